"""Languages in BCP 47: from their English names (the list of PAGE XML 2019-07-15), which some formats write out, and from
what OCR programs call them (ISO 639-2 and -3, with tesseract's additions).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from armarium_source_model.api import shortest_tag

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

_SCRIPTS: Final = {
    "frak": "Latf", "latf": "Latf", "sim": "Hans", "tra": "Hant", "latn": "Latn", "cyrl": "Cyrl",
    "arab": "Arab",
}  # fmt: skip
_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)


@cache
def languages() -> dict[str, str]:
    """English name of a language, as PAGE spells it -> BCP 47."""
    return dict(pair.split("=") for pair in _LANGUAGES.replace("\n", " ").strip().split("; "))


def language_and_script(code: str) -> tuple[str | None, str | None]:
    """Return `deu_frak` as ("de", "Latf"), `lat` as ("la", None), `en-GB` as it is; otherwise (None,
    None).
    """
    word, _, more = code[:60].strip().partition("_")
    if not _TAG.fullmatch(word):
        return None, None
    parts = more.lower().split("_") if more else []
    script = next((_SCRIPTS[part] for part in parts if part in _SCRIPTS), None)
    return shortest_tag(word), script
