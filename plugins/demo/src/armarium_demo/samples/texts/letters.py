"""Letters: of Tomás de la Ribera to his sister, of Edmund Harrow to a librarian, of Etienne Valmont to his lord."""

from __future__ import annotations

from armarium_demo.samples.sheet import Block, Frame, Hand, PageText

QUILL = Hand(slope=0.16, unsteady=1.0)
STEEL = Hand(slope=0.20, unsteady=0.8, ink=(34, 40, 72), paper=(236, 232, 222))

LETTER_1 = PageText(
    "0001",
    "letter-ribera",
    "es",
    QUILL,
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

LETTER_2 = PageText(
    "0002",
    "letter-ribera",
    "es",
    QUILL,
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

HARROW = PageText(
    "0010",
    "letter-harrow",
    "en",
    STEEL,
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

PEN = Hand(slope=0.1, unsteady=1.2, leading=1.9, waver=0.085)

VALMONT = PageText(
    "0013",
    "letter-valmont",
    "fr",
    PEN,
    frames=(
        Frame(780, 150, 600, (Block("De Montclar, le 4 mars 1761.", "header", size=44, align="right"),)),
        Frame(
            160,
            300,
            1210,
            (
                Block("Monsieur,", "heading", size=48, gap=36),
                Block(
                    "Le marchand de toile est venu hier avec les deux mulets et les quatre balles que vous lui "
                    "aviez promises. Il dit que les chemins de la montagne sont encore couverts de neige, et que "
                    "le pont de bois ne tient plus que par un seul pilier. Nous avons pris les toiles pour le prix "
                    "que vous aviez fixe, et il a donne quittance de la somme devant le notaire.",
                    size=46,
                    indent=70,
                ),
                Block(
                    "Quant au moulin, le nouveau meunier demande que la roue soit remise en bon point avant la "
                    "saint Jean. Il promet de payer la moitie de la depense, pourvu que les terres du bord de l eau "
                    "lui restent encore six ans. Je ne veux rien conclure avant que vous en ayez parle avec le "
                    "procureur.",
                    size=46,
                    indent=70,
                ),
                Block(
                    "Votre soeur vous salue et vous prie de lui envoyer les graines de chou et le petit livre.",
                    size=46,
                    indent=70,
                    gap=60,
                ),
            ),
        ),
        Frame(
            640,
            1720,
            720,
            (
                Block("Votre tres humble serviteur,", "other", size=46, align="right", gap=44),
                Block("Etienne Valmont", "other", size=50, align="right"),
            ),
        ),
    ),
)
