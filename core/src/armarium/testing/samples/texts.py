"""What the sample pages say: our own invented letters, deeds, registers and receipts, as data and nothing else.

No person, place or affair in here is real, and no sentence is taken from a document. Lengths are in paper
units: the sheet is 1500 wide and 2160 high, whatever the scale of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SHEET = (1500, 2160)

RegionKind = Literal["paragraph", "heading", "marginalia", "page-number", "header", "other"]
Align = Literal["left", "right", "centre"]


@dataclass(frozen=True, slots=True)
class Block:
    """One region's text; it is wrapped to the frame's width, and a newline forces a new line."""

    text: str
    kind: RegionKind = "paragraph"
    size: int = 40
    align: Align = "left"
    indent: int = 0
    gap: int = 28
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A column: blocks stacked from ``y`` downward, ``width`` units wide."""

    x: int
    y: int
    width: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """How a page is written: slope, weight and steadiness of the pen, colours of ink and paper."""

    slope: float = 0.0
    weight: float = 0.0
    unsteady: float = 0.6
    ink: tuple[int, int, int] = (46, 34, 26)
    paper: tuple[int, int, int] = (232, 219, 190)
    leading: float = 1.62


@dataclass(frozen=True, slots=True)
class PageText:
    """One page before it is laid out: its document, its frames in reading order, its ruled lines.

    ``wear`` from 0 (fresh) to 1 says how faded the ink and how soft the picture is; ``shows_through`` names the page
    on the other side of the leaf.
    """

    name: str
    document: str
    language: str
    hand: Hand
    frames: tuple[Frame, ...] = ()
    rules: tuple[tuple[int, int, int, int], ...] = ()
    shows_through: str | None = None
    wear: float = 0.0


@dataclass(frozen=True, slots=True)
class DocumentText:
    """One document among the pages: its title, kind and date, for the families that look for boundaries."""

    key: str
    title: str
    kind: str
    date: str
    language: str


DOCUMENTS: tuple[DocumentText, ...] = (
    DocumentText("letter-ribera", "Carta de Tomás de la Ribera a su hermana", "letter", "1786-03-14", "es"),
    DocumentText("power-quintana", "Poder que otorga doña Inés Quintana", "notarial act", "1791-09-02", "es"),
    DocumentText("sale-almazara", "Venta de una almazara en Valdeoro", "notarial act", "1791-09-03", "es"),
    DocumentText("register-parcels", "Registro de bultos de la casa de postas", "register", "1803-01", "es"),
    DocumentText("telegram-faro", "Telegrama al torrero del faro", "telegram", "1894-11-20", "es"),
    DocumentText("receipt-paper", "Recibo de doce resmas de papel", "receipt", "1822-06-30", "es"),
    DocumentText("letter-harrow", "Letter of Edmund Harrow to the librarian", "letter", "1858-10-07", "en"),
    DocumentText("certificate-bells", "Testimonium de campana refusa", "certificate", "1644-05-19", "la"),
)

_QUILL = Hand(slope=0.16, unsteady=1.0)
_NOTARY = Hand(slope=0.10, weight=0.4, unsteady=0.8, ink=(38, 28, 30), paper=(226, 214, 182), leading=1.55)
_CLERK = Hand(slope=0.06, unsteady=0.5, ink=(40, 42, 60), paper=(224, 220, 202), leading=1.58)
_PRINT = Hand(unsteady=0.15, ink=(30, 30, 34), paper=(222, 204, 164), leading=1.6)
_STEEL = Hand(slope=0.20, unsteady=0.8, ink=(34, 40, 72), paper=(236, 232, 222))
_BOOK = Hand(slope=0.04, weight=0.6, unsteady=0.7, ink=(52, 32, 22), paper=(218, 200, 160), leading=1.66)

_LETTER_1 = PageText(
    "0001",
    "letter-ribera",
    "es",
    _QUILL,
    frames=(
        Frame(660, 150, 710, (Block("Puerto Claro, 14 de marzo de 1786.", "header", align="right"),)),
        Frame(
            170,
            290,
            1190,
            (
                Block("Mi muy querida hermana:", "heading", size=44, gap=36),
                Block(
                    "Recibí tu carta del día dos con la alegría que puedes suponer, pues hacía cinco semanas que "
                    "no llegaba el correo de la sierra y ya temíamos que la nieve hubiera cerrado otra vez el paso "
                    "del molino. La leí en voz alta después de cenar y los niños pidieron que la repitiera entera, "
                    "sobre todo lo que cuentas de la mula blanca y del sacristán.",
                    indent=70,
                ),
                Block(
                    "El negocio del papel marcha mejor de lo que esperaba. El barco de Levante trajo cuarenta "
                    "balas, y aunque seis venían mojadas, el maestro Lorenzo supo secarlas al aire sin que se "
                    "mancharan. He vendido ya la mitad a la imprenta nueva, que las pagó en plata, y con ese "
                    "dinero he comprado dos mesas, una prensa pequeña y las botas que tanto me reprochabas no "
                    "tener.",
                    indent=70,
                ),
                Block(
                    "Me preguntas por la casa. Es húmeda, no te lo niego, pero desde la ventana alta se ve entrar "
                    "cada vela en la bahía. Por las mañanas escribo allí las cuentas y por las tardes enseño a "
                    "leer a los hijos del calafate, que aprenden más de prisa que yo a su edad.",
                    indent=70,
                ),
            ),
        ),
    ),
)

_LETTER_2 = PageText(
    "0002",
    "letter-ribera",
    "es",
    _QUILL,
    frames=(
        Frame(
            160,
            190,
            1190,
            (
                Block(
                    "Quisiera pedirte un favor. En el arca de nuestra madre quedó un cuaderno con tapas verdes "
                    "donde ella apuntaba las lluvias de cada año y el precio del trigo. El médico de aquí reúne "
                    "noticias del tiempo y daría cualquier cosa por copiarlo. Envíalo con el arriero Benito, "
                    "envuelto en lienzo, y yo te prometo devolverlo antes de la vendimia.",
                    indent=70,
                ),
                Block(
                    "No olvides decir a nuestro tío que la firma del contrato se hará en septiembre, y que "
                    "necesita traer la escritura vieja del olivar. Sin ella el escribano no moverá la pluma.",
                    indent=70,
                ),
                Block("Abraza a todos de mi parte y escribe pronto.", indent=70, gap=60),
            ),
        ),
        Frame(
            640,
            1270,
            720,
            (
                Block("Tu hermano que te quiere,", "other", align="right", gap=44),
                Block("Tomás de la Ribera", "other", size=48, align="right"),
            ),
        ),
        Frame(
            160,
            1620,
            1190,
            (
                Block(
                    "Posdata. El calafate te manda un saludo y un pan de higos. Va en la caja pequeña, debajo "
                    "de los libros, para que no lo encuentren los ratones.",
                ),
            ),
        ),
    ),
    shows_through="0001",
)

_POWER_1 = PageText(
    "0003",
    "power-quintana",
    "es",
    _NOTARY,
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

_POWER_2 = PageText(
    "0004",
    "power-quintana",
    "es",
    _NOTARY,
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

_SALE_2 = PageText(
    "0005",
    "sale-almazara",
    "es",
    _NOTARY,
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

_REGISTER = PageText(
    "0006",
    "register-parcels",
    "es",
    _CLERK,
    frames=(
        Frame(
            130,
            120,
            1240,
            (Block("Registro de bultos. Enero de 1803", "heading", size=54, align="centre"),),
        ),
        Frame(
            130,
            300,
            560,
            (
                Block("1. Un cajón de libros para el colegio de san Lino. Pesa cuatro arrobas.", size=36),
                Block("2. Dos fardos de lana teñida, remite Ana Prieto. Porte pagado.", size=36),
                Block("3. Una caja con loza. Llegó abierta y faltan tres platos.", size=36),
                Block("4. Un saco de semillas para el jardín del hospital.", size=36),
                Block("5. Ocho rollos de mapas con sus tubos de hojalata.", size=36),
                Block("6. Una jaula con dos palomas vivas. Se entregó el mismo día.", size=36),
                Block("7. Un violín en su estuche, sin cuerdas.", size=36),
            ),
        ),
        Frame(
            800,
            300,
            560,
            (
                Block("8. Tres barriles de aceite. Uno pierde por la tapa.", size=36),
                Block("9. Un paquete de cartas atado con cinta roja, a lista.", size=36),
                Block("10. Una rueda de carro. La recogió el herrero Simón.", size=36),
                Block("11. Cien tejas en paja. Llegaron noventa y siete.", size=36),
                Block("12. Un reloj de pared para la casa consistorial, con su péndulo aparte.", size=36),
                Block("13. Dos arrobas de cera blanca.", size=36),
                Block("14. Un baúl cerrado con llave. Nadie lo reclama desde octubre.", size=36),
            ),
        ),
    ),
    rules=((130, 250, 1370, 250), (745, 270, 745, 1960)),
)

_BLANK = PageText("0007", "register-parcels", "zxx", _CLERK, shows_through="0006")

_TELEGRAM = PageText(
    "0008",
    "telegram-faro",
    "es",
    _PRINT,
    frames=(
        Frame(
            150,
            160,
            1200,
            (
                Block("TELÉGRAFOS DEL LITORAL", "heading", size=60, align="centre", gap=20),
                Block("Despacho número 418", "header", size=36, align="centre"),
            ),
        ),
        Frame(
            170, 480, 1160, (Block("Origen: Puerto Claro. Palabras: 31. Hora: 7 y 40.", "header", size=36),)
        ),
        Frame(170, 590, 1160, (Block("Destino: Faro de Cabo Alto, torrero mayor.", "header", size=36),)),
        Frame(
            170,
            780,
            1160,
            (
                Block(
                    "BERGANTÍN AURORA SALIÓ ANOCHE CON NIEBLA\n"
                    "ENCIENDA LUZ UNA HORA ANTES Y TOQUE CAMPANA\n"
                    "CADA DIEZ MINUTOS STOP PRÁCTICO ESPERA EN\n"
                    "CALA NORTE STOP AVISE LLEGADA AUNQUE SEA\n"
                    "DE MADRUGADA STOP",
                    size=44,
                    gap=60,
                ),
                Block("CAPITANÍA DE PUERTO", "other", size=44, align="right"),
            ),
        ),
        Frame(170, 1560, 1160, (Block("Recibido por: M. Salcedo, a las 8 y 5.", "other", size=36),)),
    ),
    rules=(
        (130, 120, 1370, 120),
        (130, 420, 1370, 420),
        (130, 550, 1370, 550),
        (130, 680, 1370, 680),
        (130, 1480, 1370, 1480),
        (130, 1700, 1370, 1700),
        (130, 120, 130, 1700),
        (1370, 120, 1370, 1700),
    ),
)

_RECEIPT = PageText(
    "0009",
    "receipt-paper",
    "es",
    _STEEL,
    frames=(
        Frame(150, 200, 1200, (Block("Recibo número 57", "heading", size=56, align="centre"),)),
        Frame(
            170,
            420,
            1160,
            (
                Block(
                    "He recibido de la señora viuda de Montalbo la cantidad de doscientos dieciséis reales por "
                    "doce resmas de papel de marca mayor, a dieciocho reales la resma, entregadas hoy en su "
                    "imprenta de la calle de los Cedros.",
                    gap=50,
                ),
                Block("Doce resmas a 18 reales: 216", align="right", gap=14),
                Block("Porte y cordel: 9", align="right", gap=14),
                Block("Suma: 225", align="right", size=46, gap=70),
                Block("Valdeoro, 30 de junio de 1822.", gap=60),
                Block("Son doscientos veinticinco reales.", gap=60),
                Block("Lorenzo Aguado", "other", size=50, align="right"),
            ),
        ),
    ),
    rules=((760, 866, 1340, 866),),
    wear=0.5,
)

_HARROW = PageText(
    "0010",
    "letter-harrow",
    "en",
    _STEEL,
    frames=(
        Frame(760, 150, 610, (Block("Millbourne, October 7th, 1858.", "header", align="right"),)),
        Frame(
            170,
            290,
            1190,
            (
                Block("Dear Sir,", "heading", size=44, gap=36),
                Block(
                    "I have the honour to return by this day's carrier the three volumes which you were good "
                    "enough to lend me in the spring. I kept them longer than I promised, and must plead the "
                    "harvest, a wet summer, and a daughter married in August.",
                    indent=70,
                ),
                Block(
                    "The second volume wants a leaf between the pages numbered 88 and 91. I mention it so that "
                    "the loss may not be laid at my door, and because I believe the missing leaf to be the very "
                    "one pasted inside the cover of our parish chest. If you will send your binder, he shall "
                    "have a bed and a supper here, and may compare the two at his ease.",
                    indent=70,
                ),
                Block(
                    "I enclose a list of the field names of this parish, with the old spellings in the margin. "
                    "Some were told to me by a shepherd of ninety, who had them from his grandfather.",
                    indent=70,
                    gap=60,
                ),
                Block("I remain, Sir, your obliged servant,", "other", align="right", gap=40),
                Block("Edmund Harrow", "other", size=48, align="right"),
            ),
        ),
    ),
)

_BELLS = PageText(
    "0011",
    "certificate-bells",
    "la",
    _BOOK,
    frames=(
        Frame(
            190,
            200,
            1120,
            (
                Block("Testimonium de campana refusa", "heading", size=54, align="centre", gap=44),
                Block(
                    "Anno Domini millesimo sexcentesimo quadragesimo quarto, die decima nona mensis maii, ego "
                    "Martinus Fabri, rector ecclesiae sanctae Marinae de Ponte, testor campanam maiorem, quae "
                    "hieme fracta fuerat, coram populo refusam esse et in turri denuo positam.",
                ),
                Block(
                    "Pondus habet librarum octingentarum et sonum claro clariorem. Aes dederunt vicini, argentum "
                    "vidua quaedam cuius nomen taceri voluit, ligna vero fratres monasterii.",
                ),
                Block(
                    "Praesentes fuerunt magister Ioannes fusor, duo filii eius, et tota fere parochia, quae "
                    "prima pulsatione audita gratias egit.",
                    gap=80,
                ),
                Block("Martinus Fabri, rector", "other", size=46, align="right"),
            ),
        ),
    ),
    wear=1.0,
)

_BLANK_2 = PageText("0012", "certificate-bells", "zxx", _BOOK, shows_through="0011")

PAGES: tuple[PageText, ...] = (
    _LETTER_1,
    _LETTER_2,
    _POWER_1,
    _POWER_2,
    _SALE_2,
    _REGISTER,
    _BLANK,
    _TELEGRAM,
    _RECEIPT,
    _HARROW,
    _BELLS,
    _BLANK_2,
)
"""The pages in the order of the shelf mark; leaves 0001-0002 and 0003-0004 are recto and verso of one sheet."""
