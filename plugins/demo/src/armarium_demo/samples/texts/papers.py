"""Office papers: a register of parcels, a telegram, a receipt, a certificate, and blank versos."""

from __future__ import annotations

from armarium_demo.samples.sheet import Block, Frame, Hand, PageText

CLERK = Hand(slope=0.06, unsteady=0.5, ink=(40, 42, 60), paper=(224, 220, 202), leading=1.58)
PRINT = Hand(style="Medium", unsteady=0.15, ink=(30, 30, 34), paper=(222, 204, 164), leading=1.6)
STEEL = Hand(slope=0.20, unsteady=0.8, ink=(34, 40, 72), paper=(236, 232, 222))
BOOK = Hand(slope=0.04, style="Medium", unsteady=0.7, ink=(52, 32, 22), paper=(218, 200, 160), leading=1.66)

REGISTER = PageText(
    "0006",
    "register-parcels",
    "es",
    CLERK,
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

BLANK = PageText("0007", "register-parcels", "zxx", CLERK, shows_through="0006")

TELEGRAM = PageText(
    "0008",
    "telegram-faro",
    "es",
    PRINT,
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

RECEIPT = PageText(
    "0009",
    "receipt-paper",
    "es",
    STEEL,
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

BELLS = PageText(
    "0011",
    "certificate-bells",
    "la",
    BOOK,
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

BLANK_2 = PageText("0012", "certificate-bells", "zxx", BOOK, shows_through="0011")
