"""The texts of the sample pages: invented letters, deeds, registers and receipts, as data and nothing else.

No person, place or affair in them is real, and no sentence is taken from a document.
"""

from __future__ import annotations

from armarium_demo.samples.sheet import DocumentText, PageText
from armarium_demo.samples.texts.acts import POWER_1, POWER_2, SALE_2
from armarium_demo.samples.texts.letters import HARROW, LETTER_1, LETTER_2, VALMONT
from armarium_demo.samples.texts.papers import BELLS, BLANK, BLANK_2, RECEIPT, REGISTER, TELEGRAM

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

PAGES: tuple[PageText, ...] = (
    LETTER_1,
    LETTER_2,
    POWER_1,
    POWER_2,
    SALE_2,
    REGISTER,
    BLANK,
    TELEGRAM,
    RECEIPT,
    HARROW,
    BELLS,
    BLANK_2,
)
"""The pages in the order of the shelf mark; leaves 0001-0002 and 0003-0004 are recto and verso of one sheet."""

MANUSCRIPT = VALMONT
"""The page that looks written by a hand; it belongs to no document of the pile."""
