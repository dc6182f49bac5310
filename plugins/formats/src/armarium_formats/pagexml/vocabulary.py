"""The controlled words of PAGE XML 2019-07-15, and what they mean in BCP 47, ISO 15924 and our directions."""

from __future__ import annotations

from functools import cache
from typing import Final

DIRECTIONS: Final = {
    "left-to-right": "ltr",
    "right-to-left": "rtl",
    "top-to-bottom": "ttb",
    "bottom-to-top": "btt",
}
DIRECTION_NAMES: Final = {ours: theirs for theirs, ours in DIRECTIONS.items()}

_LANGUAGES = """
Abkhaz=ab; Afar=aa; Afrikaans=af; Akan=ak; Albanian=sq; Amharic=am; Arabic=ar; Aragonese=an;
Armenian=hy; Assamese=as; Avaric=av; Avestan=ae; Aymara=ay; Azerbaijani=az; Bambara=bm; Bashkir=ba;
Basque=eu; Belarusian=be; Bengali=bn; Bihari=bh; Bislama=bi; Bosnian=bs; Breton=br; Bulgarian=bg;
Burmese=my; Cambodian=km; Cantonese=yue; Catalan=ca; Chamorro=ch; Chechen=ce; Chichewa=ny; Chinese=zh;
Chuvash=cv; Cornish=kw; Corsican=co; Cree=cr; Croatian=hr; Czech=cs; Danish=da; Divehi=dv; Dutch=nl;
Dzongkha=dz; English=en; Esperanto=eo; Estonian=et; Ewe=ee; Faroese=fo; Fijian=fj; Finnish=fi;
French=fr; Fula=ff; Gaelic=gd; Galician=gl; Ganda=lg; Georgian=ka; German=de; Greek=el; Guaraní=gn;
Gujarati=gu; Haitian=ht; Hausa=ha; Hebrew=he; Herero=hz; Hindi=hi; Hiri Motu=ho; Hungarian=hu;
Icelandic=is; Ido=io; Igbo=ig; Indonesian=id; Interlingua=ia; Interlingue=ie; Inuktitut=iu; Inupiaq=ik;
Irish=ga; Italian=it; Japanese=ja; Javanese=jv; Kalaallisut=kl; Kannada=kn; Kanuri=kr; Kashmiri=ks;
Kazakh=kk; Khmer=km; Kikuyu=ki; Kinyarwanda=rw; Kirundi=rn; Komi=kv; Kongo=kg; Korean=ko; Kurdish=ku;
Kwanyama=kj; Kyrgyz=ky; Lao=lo; Latin=la; Latvian=lv; Limburgish=li; Lingala=ln; Lithuanian=lt;
Luba-Katanga=lu; Luxembourgish=lb; Macedonian=mk; Malagasy=mg; Malay=ms; Malayalam=ml; Maltese=mt;
Manx=gv; Māori=mi; Marathi=mr; Marshallese=mh; Mongolian=mn; Nauru=na; Navajo=nv; Ndonga=ng; Nepali=ne;
North Ndebele=nd; Northern Sami=se; Norwegian=no; Norwegian Bokmål=nb; Norwegian Nynorsk=nn; Nuosu=ii;
Occitan=oc; Ojibwe=oj; Old Church Slavonic=cu; Oriya=or; Oromo=om; Ossetian=os; Pāli=pi; Panjabi=pa;
Pashto=ps; Persian=fa; Polish=pl; Portuguese=pt; Punjabi=pa; Quechua=qu; Romanian=ro; Romansh=rm;
Russian=ru; Samoan=sm; Sango=sg; Sanskrit=sa; Sardinian=sc; Serbian=sr; Shona=sn; Sindhi=sd; Sinhala=si;
Slovak=sk; Slovene=sl; Somali=so; South Ndebele=nr; Southern Sotho=st; Spanish=es; Sundanese=su;
Swahili=sw; Swati=ss; Swedish=sv; Tagalog=tl; Tahitian=ty; Tajik=tg; Tamil=ta; Tatar=tt; Telugu=te;
Thai=th; Tibetan=bo; Tigrinya=ti; Tonga=to; Tsonga=ts; Tswana=tn; Turkish=tr; Turkmen=tk; Twi=tw;
Uighur=ug; Ukrainian=uk; Urdu=ur; Uzbek=uz; Venda=ve; Vietnamese=vi; Volapük=vo; Walloon=wa; Welsh=cy;
Western Frisian=fy; Wolof=wo; Xhosa=xh; Yiddish=yi; Yoruba=yo; Zhuang=za; Zulu=zu
"""

_SCRIPTS = """
Adlm - Adlam; Afak - Afaka; Aghb - Caucasian Albanian; Ahom - Ahom, Tai Ahom; Arab - Arabic; Aran -
Arabic (Nastaliq variant); Armi - Imperial Aramaic; Armn - Armenian; Avst - Avestan; Bali - Balinese;
Bamu - Bamum; Bass - Bassa Vah; Batk - Batak; Beng - Bengali; Bhks - Bhaiksuki; Blis - Blissymbols; Bopo
- Bopomofo; Brah - Brahmi; Brai - Braille; Bugi - Buginese; Buhd - Buhid; Cakm - Chakma; Cans - Unified
Canadian Aboriginal Syllabics; Cari - Carian; Cham - Cham; Cher - Cherokee; Cirt - Cirth; Copt - Coptic;
Cprt - Cypriot; Cyrl - Cyrillic; Cyrs - Cyrillic (Old Church Slavonic variant); Deva - Devanagari
(Nagari); Dsrt - Deseret (Mormon); Dupl - Duployan shorthand, Duployan stenography; Egyd - Egyptian
demotic; Egyh - Egyptian hieratic; Egyp - Egyptian hieroglyphs; Elba - Elbasan; Ethi - Ethiopic; Geok -
Khutsuri (Asomtavruli and Nuskhuri); Geor - Georgian (Mkhedruli); Glag - Glagolitic; Goth - Gothic; Gran
- Grantha; Grek - Greek; Gujr - Gujarati; Guru - Gurmukhi; Hanb - Han with Bopomofo; Hang - Hangul; Hani
- Han (Hanzi, Kanji, Hanja); Hano - Hanunoo (Hanunóo); Hans - Han (Simplified variant); Hant - Han
(Traditional variant); Hatr - Hatran; Hebr - Hebrew; Hira - Hiragana; Hluw - Anatolian Hieroglyphs; Hmng
- Pahawh Hmong; Hrkt - Japanese syllabaries; Hung - Old Hungarian (Hungarian Runic); Inds - Indus
(Harappan); Ital - Old Italic (Etruscan, Oscan etc.); Jamo - Jamo; Java - Javanese; Jpan - Japanese;
Jurc - Jurchen; Kali - Kayah Li; Kana - Katakana; Khar - Kharoshthi; Khmr - Khmer; Khoj - Khojki; Kitl -
Khitan large script; Kits - Khitan small script; Knda - Kannada; Kore - Korean (alias for Hangul + Han);
Kpel - Kpelle; Kthi - Kaithi; Lana - Tai Tham (Lanna); Laoo - Lao; Latf - Latin (Fraktur variant); Latg
- Latin (Gaelic variant); Latn - Latin; Leke - Leke; Lepc - Lepcha (Róng); Limb - Limbu; Lina - Linear
A; Linb - Linear B; Lisu - Lisu (Fraser); Loma - Loma; Lyci - Lycian; Lydi - Lydian; Mahj - Mahajani;
Mand - Mandaic, Mandaean; Mani - Manichaean; Marc - Marchen; Maya - Mayan hieroglyphs; Mend - Mende
Kikakui; Merc - Meroitic Cursive; Mero - Meroitic Hieroglyphs; Mlym - Malayalam; Modi - Modi, Moḍī; Mong
- Mongolian; Moon - Moon (Moon code, Moon script, Moon type); Mroo - Mro, Mru; Mtei - Meitei Mayek
(Meithei, Meetei); Mult - Multani; Mymr - Myanmar (Burmese); Narb - Old North Arabian (Ancient North
Arabian); Nbat - Nabataean; Newa - Newa, Newar, Newari; Nkgb - Nakhi Geba; Nkoo - N’Ko; Nshu - Nüshu;
Ogam - Ogham; Olck - Ol Chiki (Ol Cemet’, Ol, Santali); Orkh - Old Turkic, Orkhon Runic; Orya - Oriya;
Osge - Osage; Osma - Osmanya; Palm - Palmyrene; Pauc - Pau Cin Hau; Perm - Old Permic; Phag - Phags-pa;
Phli - Inscriptional Pahlavi; Phlp - Psalter Pahlavi; Phlv - Book Pahlavi; Phnx - Phoenician; Piqd -
Klingon (KLI pIqaD); Plrd - Miao (Pollard); Prti - Inscriptional Parthian; Rjng - Rejang (Redjang,
Kaganga); Roro - Rongorongo; Runr - Runic; Samr - Samaritan; Sara - Sarati; Sarb - Old South Arabian;
Saur - Saurashtra; Sgnw - SignWriting; Shaw - Shavian (Shaw); Shrd - Sharada, Śāradā; Sidd - Siddham;
Sind - Khudawadi, Sindhi; Sinh - Sinhala; Sora - Sora Sompeng; Sund - Sundanese; Sylo - Syloti Nagri;
Syrc - Syriac; Syre - Syriac (Estrangelo variant); Syrj - Syriac (Western variant); Syrn - Syriac
(Eastern variant); Tagb - Tagbanwa; Takr - Takri; Tale - Tai Le; Talu - New Tai Lue; Taml - Tamil; Tang
- Tangut; Tavt - Tai Viet; Telu - Telugu; Teng - Tengwar; Tfng - Tifinagh (Berber); Tglg - Tagalog
(Baybayin, Alibata); Thaa - Thaana; Thai - Thai; Tibt - Tibetan; Tirh - Tirhuta; Ugar - Ugaritic; Vaii -
Vai; Visp - Visible Speech; Wara - Warang Citi (Varang Kshiti); Wole - Woleai; Xpeo - Old Persian; Xsux
- Cuneiform, Sumero-Akkadian; Yiii - Yi; Zinh - Code for inherited script; Zmth - Mathematical notation;
Zsye - Symbols (Emoji variant); Zsym - Symbols; Zxxx - Code for unwritten documents; Zyyy - Code for
undetermined script; Zzzz - Code for uncoded script
"""


@cache
def languages() -> dict[str, str]:
    """PAGE's names of languages -> BCP 47."""
    return dict(pair.split("=") for pair in _LANGUAGES.replace("\n", " ").strip().split("; "))


@cache
def language_names() -> dict[str, str]:
    """BCP 47 -> the name PAGE has for it."""
    return {code: name for name, code in languages().items()}


@cache
def script_names() -> dict[str, str]:
    """ISO 15924 code -> PAGE's "Code - Name"."""
    return {name[:4]: name for name in _SCRIPTS.replace("\n", " ").strip().split("; ")}


def language_of(name: str | None) -> str | None:
    """BCP 47 for a language as PAGE files give it: PAGE's own name, or a tag that is one already."""
    if not name:
        return None
    code = languages().get(name) or languages().get(name.capitalize())
    if code:
        return code
    return (
        name
        if name.isascii() and 2 <= len(name.split("-")[0]) <= 3 and name.split("-")[0].isalpha()
        else None
    )


def script_of(name: str | None) -> str | None:
    """ISO 15924 code of a script as PAGE files give it: "Latn - Latin", or the bare code."""
    return name[:4] if name and name[:4] in script_names() else None
