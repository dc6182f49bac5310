"""The network of the line finder: a small U-shaped one, whose answer has a quarter of the sides of its input."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

MAPS = 5
WIDTHS = (16, 32, 56, 88, 112)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, momentum=0.02)


class Block(nn.Module):
    """Two convolutions beside which the input passes."""

    def __init__(self, channels: int, spread: int = 1) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, 1, spread, spread, bias=False)
        self.first_norm = _norm(channels)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.second_norm = _norm(channels)

    def forward(self, x: Tensor) -> Tensor:
        inner = functional.relu(self.first_norm(self.first(x)))
        return functional.relu(x + self.second_norm(self.second(inner)))


def _down(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(before, after, 3, 2, 1, bias=False), _norm(after), nn.ReLU())


class Up(nn.Module):
    """Puts a coarser answer beside a finer one."""

    def __init__(self, coarse: int, fine: int) -> None:
        super().__init__()
        self.narrow = nn.Conv2d(coarse, fine, 1, bias=False)
        self.norm = _norm(fine)
        self.block = Block(fine)

    def forward(self, coarse: Tensor, fine: Tensor) -> Tensor:
        raised = functional.interpolate(self.norm(self.narrow(coarse)), scale_factor=2.0, mode="nearest")
        return self.block(functional.relu(raised + fine))


class LineNet(nn.Module):
    """From pages (pages, 1, height, width) of light from 0 to 1 to maps (pages, MAPS, height / 4, width / 4) of logits."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d, e = WIDTHS
        self.stem = nn.Sequential(_down(1, a), _down(a, b))
        self.quarter = Block(b)
        self.eighth = nn.Sequential(_down(b, c), Block(c), Block(c))
        self.sixteenth = nn.Sequential(_down(c, d), Block(d), Block(d, 2))
        self.far = nn.Sequential(_down(d, e), Block(e), Block(e, 2), Block(e, 4))
        self.ups = nn.ModuleList([Up(e, d), Up(d, c), Up(c, b)])
        self.answer = nn.Conv2d(b, MAPS, 3, 1, 1)

    def forward(self, pages: Tensor) -> Tensor:
        quarter = self.quarter(self.stem(pages * 2 - 1))
        eighth = self.eighth(quarter)
        sixteenth = self.sixteenth(eighth)
        features = self.far(sixteenth)
        for up, fine in zip(self.ups, (sixteenth, eighth, quarter), strict=True):
            features = up(features, fine)
        out: Tensor = self.answer(features)
        return out


def weigh(answers: Tensor, targets: Tensor) -> Tensor:
    """The loss of logits against coded maps (bytes), of which the last says where the others are known."""
    expected = targets.float() / 255
    logits, known = answers.float(), expected[:, 5]
    loss = torch.zeros((), device=logits.device)
    for at, weight, share in ((0, 4.0, 1.0), (1, 5.0, 0.6), (2, 0.0, 0.5)):
        true = expected[:, at]
        each = functional.binary_cross_entropy_with_logits(logits[:, at], true, reduction="none")
        loss = loss + share * (each * known * (1 + weight * true)).mean()
        predicted = logits[:, at].sigmoid() * known
        overlap = 2 * (predicted * true).sum((1, 2)) + 20
        loss = (
            loss
            + 0.3 * share * (1 - overlap / (predicted.sum((1, 2)) + (true * known).sum((1, 2)) + 20)).mean()
        )
    lined = targets[:, 3:5] > 0
    off = functional.smooth_l1_loss(logits[:, 3:], expected[:, 3:5] * 4, reduction="none", beta=0.1)
    return loss + 0.6 * (off * lined).sum() / lined.sum().clamp(min=1)


def count_weights(net: nn.Module) -> int:
    """How many weights a network has."""
    return sum(weights.numel() for weights in net.parameters())


def onnx_of(net: LineNet, path: str) -> None:
    """Write the network with its weights in half precision, for pages of any size."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    with torch.no_grad():
        net = net.float().cpu().eval()
        torch.onnx.export(
            net, (torch.zeros(1, 1, 256, 320),), path, input_names=["page"], output_names=["maps"], opset_version=17,
            dynamic_axes={"page": {2: "h", 3: "w"}, "maps": {2: "qh", 3: "qw"}}, dynamo=False,
        )  # fmt: skip
    model = onnx.load(path)
    tensors, casts = [], []
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype.name != "float32" or array.size < 64:
            tensors.append(tensor)
            continue
        tensors.append(numpy_helper.from_array(array.astype("float16"), tensor.name + ".half"))
        casts.append(helper.make_node("Cast", [tensor.name + ".half"], [tensor.name], to=TensorProto.FLOAT))
    del model.graph.initializer[:]
    model.graph.initializer.extend(tensors)
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*casts, *nodes])
    onnx.checker.check_model(model)
    onnx.save(model, path)
