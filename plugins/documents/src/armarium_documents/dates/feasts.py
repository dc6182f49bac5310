"""Feasts by which documents are dated, named in five languages: fixed ones and those that depend on Easter."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Feast(NamedTuple):
    """A feast: its day of the year or its distance from Easter, and a pattern of its names."""

    key: str
    month: int
    day: int
    after_easter: int | None
    pattern: re.Pattern[str]


# In the patterns S stands for the words for a saint, and E for the words for a feast or day that may come
# first.
_SAINT = r"(?:san|santo|santa|sant|saint|sainte|st|ste|sct|sankt|s|sancti|sancte|sanctae|sanctorum|beati|beate|beatae|b)"
_FIXED: dict[str, tuple[int, int, str]] = {
    "circumcision": (1, 1, r"circumcision(?:is|e)?(?: domini)?|circoncision|beschneidung|neujahr(?:stag)?|new year s day|ano nuevo"),
    "epiphany": (1, 6, r"epiphan(?:y|ie|iae|ia|ias)(?: domini)?|epifania|twelfth day|dreikonig(?:e|s)?(?:tag)?|dia de (?:los )?reyes|les rois|jour des rois"),
    "anthony": (1, 17, r"S antonii(?: abbatis)?|S anton abad|S antoine|S antony"),
    "agnes": (1, 21, r"S agnet(?:is|e)|S agnes|S ines"),
    "vincent": (1, 22, r"S vincen(?:t|tii|te)|S vinzenz"),
    "conversion-of-paul": (1, 25, r"conversion(?:is|e)? (?:of |de )?S pau(?:li|l)|conversion de S pablo|pauli bekehrung|conversio(?:nis|ne)? S pauli"),
    "candlemas": (2, 2, r"candlemas|purification(?:is|e)?(?: beate marie| of (?:the )?(?:blessed )?(?:virgin )?mary)?|candelaria|chandeleur|lichtmess|mariae? lichtmess|lichtmesse"),
    "blaise": (2, 3, r"S blas(?:e|ii)?|S blaise"),
    "agatha": (2, 5, r"S agath(?:a|e|ae)|S agueda"),
    "valentine": (2, 14, r"S valentin(?:e|i|us)?(?: s day)?"),
    "chair-of-peter": (2, 22, r"cathedra(?:e)? S petri|S petri ad cathedram|petri stuhlfeier"),
    "matthias": (2, 24, r"S matt?hi(?:as|e|ae)|matthias"),
    "gregory": (3, 12, r"S gregor(?:ii|y|io|ius|oire|tag)?|S gregoire|gregorii"),
    "patrick": (3, 17, r"S patric(?:k|ii)(?: s day)?"),
    "joseph": (3, 19, r"S jose(?:ph)?|S josephi"),
    "benedict": (3, 21, r"S benedict(?:i)?|S benito|S benoit"),
    "annunciation": (3, 25, r"annunciation(?:is|e)?(?: beate marie| dominice| of (?:the )?(?:blessed )?(?:virgin )?mary)?|lady day|anunciacion|annonciation|mariae? verkundigung|encarnacion"),
    "george": (4, 23, r"S georg(?:ii|e|i|s|en)?(?: s day)?|S jorge|georgi(?:i)?|S georges"),
    "mark": (4, 25, r"S marci|S mark(?: s day)?|S marcos|S marc|marci|S markus"),
    "philip-and-james": (5, 1, r"(?:S |apostolorum )?philippi et jacobi(?: apostolorum)?|S philip and (?:S )?james|S felipe y santiago|may ?day|walpurgis(?:tag)?|walpurge"),
    "invention-of-the-cross": (5, 3, r"invention(?:is|e)? (?:S |sancte |of the )?(?:holy )?cr(?:ucis|oss)|invencion de la cruz|santa cruz de mayo|kreuzauffindung|kreuzerfindung|invention de la S croix"),
    "barnabas": (6, 11, r"S barnab(?:as|e|ae|y)"),
    "anthony-of-padua": (6, 13, r"S antonio de padua|S antonii de padua"),
    "vitus": (6, 15, r"S vit(?:us|i)|veitstag|S veit(?:s)?(?: ?tag)?"),
    "john-baptist": (6, 24, r"(?:nativit(?:y|atis|ate) (?:of )?)?S (?:johannis|joannis|iohannis|john|johannes|johans|johann)(?: (?:the )?baptist(?:e|ae)?| ?tag| s day)?(?! ?(?:ev|ante|apostoli))|midsummer(?: day)?|S juan(?: bautista)?(?: de junio)?|S jean(?: baptiste)?|johannis(?:tag)?|johanni"),
    "peter-and-paul": (6, 29, r"(?:apostolorum )?(?:S )?petri et pauli(?: apostolorum)?|S peter and (?:S )?paul|S pedro(?: y S pablo)?|S pierre(?: et S paul)?|peter und paul(?: ?tag)?"),
    "visitation": (7, 2, r"visitation(?:is|e)?(?: beate marie)?|visitacion|mariae? heimsuchung"),
    "translation-of-thomas": (7, 7, r"translation(?:is|e)? (?:of )?S thom(?:e|as)(?: (?:the )?martyr(?:is)?)?"),
    "margaret": (7, 20, r"S margaret(?:e|ae|a|h)?|S marguerite|S margarita"),
    "mary-magdalene": (7, 22, r"S mari(?:e|ae|a) magdal(?:ene|enae|ena)|S mary magdalen(?:e)?|(?:la )?magdalena|magdalene|S marie madeleine|madeleine|maria magdalena"),
    "james": (7, 25, r"S jacobi(?: apostoli)?|S james(?: the apostle)?|santiago|S jacques|jakobi|S jakob(?:s|i)?(?: ?tag)?|jacobi"),
    "anne": (7, 26, r"S ann(?:e|ae|a)|S ana"),
    "peter-in-chains": (8, 1, r"(?:S )?petri ad vincula|S peter in chains|lammas(?: day)?|S pedro ad vincula|S pierre aux liens|petri kettenfeier"),
    "lawrence": (8, 10, r"S laurenti(?:i|us)|S laurence|S lawrence|S lorenzo|S laurent|laurenti(?:i|us)?(?:tag)?|laurentii"),
    "assumption": (8, 15, r"assumption(?:is|e)?(?: beate marie(?: virginis)?| of (?:the )?(?:blessed )?(?:virgin )?mary| of our lady)?|asuncion(?: de nuestra senora)?|assomption|mariae? himmelfahrt"),
    "bartholomew": (8, 24, r"S bartholom(?:ei|ew|aei|aus)|S bartolome|S barthelemy|bartholom(?:ai|aei|aus)(?:tag)?"),
    "augustine": (8, 28, r"S augustin(?:i|e)?|S agustin"),
    "decollation-of-john": (8, 29, r"decollation(?:is|e)? (?:of )?S (?:johannis|john)(?: (?:the )?baptiste?)?|degollacion de S juan|johannis enthauptung"),
    "giles": (9, 1, r"S egidii|S aegidii|S giles|S gil|S gilles|agidi(?:i|us)?"),
    "nativity-of-mary": (9, 8, r"nativit(?:y|atis|ate) (?:of )?(?:the )?(?:beate |blessed )?(?:virgin )?mar(?:y|ie|iae)(?: virginis)?|natividad de nuestra senora|nativite de (?:notre dame|la vierge)|mariae? geburt"),
    "exaltation-of-the-cross": (9, 14, r"exaltation(?:is|e)? (?:S |sancte |of the )?(?:holy )?cr(?:ucis|oss)|exaltacion de la (?:S )?cruz|holy ?rood(?: day)?|kreuzerhohung|exaltation de la S croix"),
    "matthew": (9, 21, r"S matt?h(?:ei|ew|aei|aus|ieu)|S mateo|S matthieu|matthai|matthaus"),
    "michaelmas": (9, 29, r"michaelmas(?: day)?|S michael(?:is)?(?: archangeli)?|S miguel|S michel|michael(?:is|i)(?:tag)?|michaelis"),
    "jerome": (9, 30, r"S (?:jeronimi|hieronymi|jerome|jeronimo)"),
    "remigius": (10, 1, r"S remig(?:ii|ius)|S remi|S remy|remigi(?:i|us)?"),
    "francis": (10, 4, r"S francisci|S francis|S francisco|S francois|franziskus"),
    "denis": (10, 9, r"S dionysii|S dionisii|S denis|S denys"),
    "gall": (10, 16, r"S gall(?:i|us|en)|galli|S gallen ?tag"),
    "luke": (10, 18, r"S luc(?:e|ae)? evangeliste?|S luke(?: s day)?|S lucas|S lukas|lucae"),
    "simon-and-jude": (10, 28, r"(?:apostolorum )?(?:S )?simonis et jude(?: apostolorum)?|S simon and (?:S )?jude|S simon y (?:S )?judas|simon(?:is)? (?:und|et) jud(?:a|e|ae)|S simon et (?:S )?jude"),
    "all-saints": (11, 1, r"omnium sanctorum|all saints(?: day)?|all hallows|todos (?:los )?santos|toussaint|allerheiligen(?:tag)?|all hallow ?tide"),
    "all-souls": (11, 2, r"(?:commemoration(?:is|e) )?(?:omnium )?(?:fidelium )?(?:animarum|defunctorum)|all souls(?: day)?|fieles difuntos|difuntos|jour des morts|allerseelen(?:tag)?"),
    "martinmas": (11, 11, r"martinmas(?: day)?|S martini(?: (?:episcopi|hyemalis|in hieme))?|S martin(?:o|s)?(?: ?tag| d hiver)?|martini(?:tag)?"),
    "edmund": (11, 20, r"S edmund(?:i)?(?: (?:the )?king| regis)?"),
    "cecilia": (11, 22, r"S ceci(?:lie|liae|lia|ly)|S cecile"),
    "clement": (11, 23, r"S clement(?:is|e)?(?: s day)?"),
    "catherine": (11, 25, r"S [ck]at(?:h)?(?:e|a)rin(?:e|ae|a)(?: ?tag)?|S catalina"),
    "andrew": (11, 30, r"S andre(?:e|ae|w|as|s)(?: s day| apostoli)?|S andres|S andre|andrea(?:s)?(?:tag)?|andreae"),
    "barbara": (12, 4, r"S barbar(?:a|e|ae)"),
    "nicholas": (12, 6, r"S nic(?:h)?ol(?:ai|as|aus|aas)|S nikolaus|nicolai|S nicolas|nikolaus(?:tag)?"),
    "conception": (12, 8, r"conception(?:is|e)?(?: beate marie(?: virginis)?)?|concepcion|mariae? empfangnis|immaculee conception"),
    "lucy": (12, 13, r"S luci(?:e|ae|a)(?: virginis)?|S lucy(?: s day)?|S luzia"),
    "thomas": (12, 21, r"S thom(?:e|ae|as)(?: apostoli| (?:the )?apostle)?|S tomas|thomas ?tag|thomae"),
    "christmas": (12, 25, r"christmas(?: day)?|nativit(?:atis|ate|y)(?: domini| of (?:our |the )?lord| nostri domini)?|natalis domini|natali domini|navidad|natividad(?: del senor)?|noel|weihnacht(?:en|s ?tag)?|christ ?tag|pascua de navidad"),
    "stephen": (12, 26, r"S stephan(?:i|us)?|S stephen(?: s day)?|S esteban|S etienne|stephan(?:s ?tag|i)"),
    "john-evangelist": (12, 27, r"S johannis (?:evangeliste|apostoli|ante portam)|S john (?:the )?evangelist|S juan evangelista|S jean (?:l )?evangeliste"),
    "innocents": (12, 28, r"(?:sanctorum )?innocent(?:ium|s)(?: day)?|holy innocents|inocentes|(?:saints )?innocents|unschuldige(?:n)? kind(?:er|lein)(?: ?tag)?|childermas"),
    "thomas-becket": (12, 29, r"S thome martyris|S thomas (?:the )?martyr|S thomas becket"),
    "sylvester": (12, 31, r"S s(?:i|y)lvest(?:er|ri|re)|silvester|nochevieja"),
}  # fmt: skip
_MOVABLE: dict[str, tuple[int, str]] = {
    "septuagesima": (-63, r"(?:dominic(?:a|e) (?:in )?)?septuagesim(?:a|e|ae)(?: sunday)?"),
    "sexagesima": (-56, r"(?:dominic(?:a|e) (?:in )?)?sexagesim(?:a|e|ae)(?: sunday)?"),
    "quinquagesima": (-49, r"(?:dominic(?:a|e) (?:in )?)?quinquagesim(?:a|e|ae)(?: sunday)?|esto ?mihi|shrove sunday"),
    "shrove-tuesday": (-47, r"shrove tuesday|martes de carnaval|mardi gras|fastnacht(?:s ?dienstag)?|carnisprivi(?:um|i)"),
    "ash-wednesday": (-46, r"ash wednesday|(?:feria quarta |die |in )?(?:in )?cin(?:erum|ere|eribus)|capite jejunii|miercoles de ceniza|mercredi des cendres|aschermittwoch"),
    "invocavit": (-42, r"(?:dominica |dominicam |sonntag )?invocavit|(?:dominica |dominicam |sonntag )?in ?vocavit|quadragesima sunday|(?:dominica |dominicam |sonntag )?prima (?:in )?quadragesim(?:e|ae|a)"),
    "reminiscere": (-35, r"(?:dominica |dominicam |sonntag )?reminiscere"),
    "oculi": (-28, r"(?:dominica |dominicam |sonntag )?oculi"),
    "laetare": (-21, r"(?:dominica |dominicam |sonntag )?la?etare|mid ?lent sunday|mitfasten|mi ?careme"),
    "judica": (-14, r"(?:dominica |dominicam |sonntag )?(?:judica|iudica)|passion sunday|(?:dominica in )?passione domini"),
    "palm-sunday": (-7, r"palm sunday|(?:dominica |dominicam |in |ramis |ramos )*palm(?:arum|is)|domingo de ramos|dimanche des rameaux|les rameaux|palmsonntag|palmtag|ramis palmarum"),
    "maundy-thursday": (-3, r"maundy thursday|c(?:o)?ena domini|jueves santo|jeudi saint|grundonnerstag"),
    "good-friday": (-2, r"good friday|parasceve(?:s)?|viernes santo|vendredi saint|karfreitag"),
    "holy-saturday": (-1, r"holy saturday|sabbato sancto|sabado santo|samedi saint|karsamstag"),
    "easter-monday": (1, r"easter monday|lunes de pascua|lundi de paques|ostermontag"),
    "easter": (0, r"easter(?: day| sunday)?|resurrection(?:is|e) domini(?:ce)?|pasch(?:e|ae|a|atis)|pascua(?: florida| de resurreccion)?|domingo de resurreccion|paques|(?:heiligen? )?oster(?:n|tag|sonntag)"),
    "quasimodo": (7, r"(?:dominica |dominicam |sonntag )?quasi ?modo(?: ?geniti)?|low sunday|(?:dominica |dominicam |sonntag )?in albis|weisser sonntag|close paques|clausum pascha"),
    "misericordia": (14, r"(?:dominica |dominicam |sonntag )?misericordia(?:s)?(?: domini)?"),
    "jubilate": (21, r"(?:dominica |dominicam |sonntag )?jubilate"),
    "cantate": (28, r"(?:dominica |dominicam |sonntag )?cantate"),
    "rogate": (35, r"(?:dominica |dominicam |sonntag )?(?:rogate|vocem jucunditatis)|rogation sunday"),
    "ascension": (39, r"ascension(?:is|e)?(?: domini| day| thursday)?|(?:christi )?himmelfahrt(?:s ?tag)?|holy thursday"),
    "exaudi": (42, r"(?:dominica |dominicam |sonntag )?exaudi"),
    "whit-monday": (50, r"whit ?monday|lunes de pentecostes|lundi de (?:la )?pentecote|pfingstmontag"),
    "pentecost": (49, r"pentecost(?:es|e|en)?|whit ?sun(?:day)?|pentecote|pfingst(?:en|tag|sonntag)|pascua de pentecostes|pascua del espiritu santo"),
    "trinity": (56, r"(?:S |holy )?trinit(?:y|atis|ate|e)(?: sunday)?|(?:santisima )?trinidad|dreifaltigkeit(?:s ?sonntag)?|trinitatis"),
    "corpus-christi": (60, r"corp(?:us|oris|ore) christi(?: day)?|corpus(?: day)?|fete dieu|fronleichnam(?:s ?tag)?"),
}  # fmt: skip


def _compile_words(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words.replace('S ', _SAINT + ' ')})\b")


@cache
def feasts() -> tuple[Feast, ...]:
    """Return all feasts; compiled when the first date is read, because the many patterns take a while."""
    return (
        *(Feast(key, 0, 0, days, _compile_words(words)) for key, (days, words) in _MOVABLE.items()),
        *(Feast(key, month, day, None, _compile_words(words)) for key, (month, day, words) in _FIXED.items()),
    )


def feast_in(text: str) -> tuple[Feast, int, int] | None:
    """Return the feast that *text* (lower case, no accents, single spaces) names, and the span of its name.

    The longest name wins: Easter Monday is not Easter. None if there is none.
    """
    best: tuple[Feast, int, int] | None = None
    for feast in feasts():
        for match in feast.pattern.finditer(text):
            if best is None or match.end() - match.start() > best[2] - best[1]:
                best = feast, match.start(), match.end()
    return best
