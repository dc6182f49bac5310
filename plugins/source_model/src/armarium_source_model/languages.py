"""Tags of languages: one spelling for each."""

from __future__ import annotations

from functools import cache

_THREE_LETTERS = """
afr=af; amh=am; ara=ar; asm=as; aze=az; bel=be; ben=bn; bod=bo; tib=bo; bos=bs; bre=br; bul=bg;
cat=ca; ces=cs; cze=cs; chi=zh; zho=zh; cos=co; cym=cy; wel=cy; dan=da; deu=de; ger=de; div=dv;
dzo=dz; ell=el; gre=el; eng=en; epo=eo; est=et; eus=eu; baq=eu; fao=fo; fas=fa; per=fa; fin=fi;
fra=fr; fre=fr; fry=fy; gla=gd; gle=ga; glg=gl; guj=gu; hat=ht; heb=he; hin=hi; hrv=hr; hun=hu;
hye=hy; arm=hy; iku=iu; ind=id; isl=is; ice=is; ita=it; jav=jv; jpn=ja; kan=kn; kat=ka; geo=ka;
kaz=kk; khm=km; kir=ky; kor=ko; kur=ku; lao=lo; lat=la; lav=lv; lit=lt; ltz=lb; mal=ml; mar=mr;
mkd=mk; mac=mk; mlt=mt; mon=mn; mri=mi; mao=mi; msa=ms; may=ms; mya=my; bur=my; nep=ne; nld=nl;
dut=nl; nno=nn; nob=nb; nor=no; oci=oc; ori=or; pan=pa; pol=pl; por=pt; pus=ps; que=qu; ron=ro;
rum=ro; rus=ru; san=sa; sin=si; slk=sk; slo=sk; slv=sl; snd=sd; spa=es; sqi=sq; alb=sq; srp=sr;
sun=su; swa=sw; swe=sv; tam=ta; tat=tt; tel=te; tgk=tg; tgl=tl; tha=th; tir=ti; ton=to; tur=tr;
uig=ug; ukr=uk; urd=ur; uzb=uz; vie=vi; yid=yi; yor=yo; zul=zu
"""
"""Codes of ISO 639-2 and -3 of languages that have one of two letters, which BCP 47 uses alone."""


@cache
def _shorter() -> dict[str, str]:
    return dict(pair.split("=") for pair in _THREE_LETTERS.replace("\n", " ").strip().split("; "))


def shortest_tag(tag: str) -> str:
    """Return *tag* with the shortest code of its language, as BCP 47 asks: `fra` and `fre` are `fr`, `deu-AT` is `de-AT`."""
    primary, mark, subtags = tag.partition("-")
    return f"{_shorter().get(primary.lower(), primary)}{mark}{subtags}"
