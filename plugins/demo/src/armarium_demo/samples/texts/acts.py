"""Acts before a notary: a power of attorney and a sale, on leaves that share a sheet."""

from __future__ import annotations

from armarium_demo.samples.sheet import Block, Frame, Hand, PageText

NOTARY = Hand(slope=0.10, style="Medium", unsteady=0.8, ink=(38, 28, 30), paper=(226, 214, 182), leading=1.55)

POWER_1 = PageText(
    "0003",
    "power-quintana",
    "es",
    NOTARY,
    frames=(
        Frame(1290, 90, 110, (Block("112", "page-number", size=46, align="right"),)),
        Frame(
            410,
            210,
            960,
            (
                Block("Poder para cobrar", "heading", size=52, align="centre", gap=40),
                Block(
                    "En la villa de Valdeoro, a dos días del mes de septiembre de mil setecientos noventa y uno, "
                    "ante mí el escribano público y testigos que se dirán, pareció doña Inés Quintana, viuda, "
                    "vecina de esta villa, y dijo: que da y otorga todo su poder cumplido, cuanto de derecho se "
                    "requiere y es necesario, a don Baltasar Olmedo, maestro de postas, para que en su nombre y "
                    "representando su persona pida, reciba y cobre de la casa de los señores Pardo y compañía "
                    "la cantidad de trescientos y veinte reales que le deben por el arriendo del molino bajo, "
                    "cumplido el día de san Juan.",
                ),
                Block(
                    "Y de lo que recibiere y cobrare dé cartas de pago, finiquito y lasto, que valgan como si "
                    "la otorgante misma las diera; y si fuere necesario parezca ante las justicias y haga "
                    "pedimentos, requerimientos y protestas, presente escritos y testigos, y siga la causa por "
                    "todos los grados hasta su fin.",
                ),
                Block(
                    "Otrosí le da poder para nombrar procurador que lo sustituya, quedando siempre en su fuerza "
                    "lo aquí contenido.",
                ),
            ),
        ),
        Frame(
            100,
            420,
            260,
            (
                Block(
                    "Saqué copia\nel mismo día\nen papel del\nsello tercero.", "marginalia", size=31, gap=180
                ),
                Block("Vale por\ncobrado en\nenero de 92.", "marginalia", size=31),
            ),
        ),
    ),
)

POWER_2 = PageText(
    "0004",
    "power-quintana",
    "es",
    NOTARY,
    frames=(
        Frame(
            150,
            170,
            1080,
            (
                Block(
                    "Así lo otorgó y no firmó porque dijo no saber; a su ruego lo hizo uno de los testigos, que "
                    "fueron Mateo Lerma, Julián Soto y Andrés del Campo, vecinos de esta villa. De todo lo cual "
                    "doy fe.",
                ),
            ),
        ),
        Frame(
            180,
            590,
            1080,
            (
                Block("A ruego: Julián Soto", "other", size=46, gap=30),
                Block("Ante mí: Gaspar Medel, escribano", "other", size=46, align="right"),
            ),
        ),
        Frame(
            150,
            900,
            1080,
            (
                Block(
                    "Venta de una almazara",
                    "heading",
                    size=52,
                    align="centre",
                    gap=40,
                    document="sale-almazara",
                ),
                Block(
                    "En la dicha villa, a tres días del referido mes y año, ante mí el infrascrito escribano, "
                    "Lucas Arenal y Rosa Vidal, su mujer, con licencia que él le concedió y ella aceptó, "
                    "vendieron por juro de heredad a Pedro Castaño, tonelero, una almazara con su piedra, viga y "
                    "tinajas, que está en el camino de la fuente y linda por levante con huerta del convento, "
                    "por poniente con casa de los herederos de Marcos Gil y por el norte con el arroyo.",
                    document="sale-almazara",
                ),
                Block(
                    "El precio son mil y cien reales, que los vendedores confiesan haber recibido en moneda "
                    "usual y corriente.",
                    document="sale-almazara",
                ),
            ),
        ),
    ),
    shows_through="0003",
)

SALE_2 = PageText(
    "0005",
    "sale-almazara",
    "es",
    NOTARY,
    frames=(
        Frame(1290, 90, 110, (Block("113", "page-number", size=46, align="right"),)),
        Frame(
            410,
            210,
            960,
            (
                Block(
                    "Y desde hoy en adelante se apartan del dominio y señorío que tenían sobre la dicha almazara, "
                    "y lo ceden y traspasan en el comprador para que la posea, goce, venda y cambie a su "
                    "voluntad, como cosa suya adquirida con justo y legítimo título.",
                ),
                Block(
                    "Declaran que está libre de censo, tributo, memoria y otra carga, y que si algún pleito le "
                    "fuere puesto saldrán a la voz y defensa hasta dejarle en quieta y pacífica posesión.",
                ),
                Block(
                    "Para cumplirlo obligan sus personas y bienes, habidos y por haber. Y el comprador, que "
                    "estaba presente, la aceptó y firmó con el vendedor; por la vendedora lo hizo un testigo.",
                    gap=70,
                ),
                Block("Lucas Arenal", "other", size=46, gap=26),
                Block("Pedro Castaño", "other", size=46, align="right", gap=26),
                Block("Ante mí: Gaspar Medel", "other", size=46, align="centre"),
            ),
        ),
        Frame(100, 300, 260, (Block("Derechos:\nseis reales.", "marginalia", size=31),)),
    ),
    wear=0.8,
)
