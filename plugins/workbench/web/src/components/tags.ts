// Tags of languages (BCP 47) and codes of scripts (ISO 15924), and the names they go by.

export interface Named {
  tag: string;
  name: string;
}

const FORM = /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/;
const SPECIAL = {
  language: /^(q[a-t][a-z]|und|mul|mis|zxx|x)([-_]|$)/i,
  script: /^(Qa[a-b][a-x]|Zyyy|Zxxx|Zinh|Zzzz)$/i,
};

/** Whether *typed* is a tag that no list has: for private use, or for what has no language or script. */
export const isSpecial = (kind: keyof typeof SPECIAL, typed: string) => SPECIAL[kind].test(typed);

const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The tag meant by *typed*, one of *known* by its tag, with what follows it, or by its name; null where it is none of them. */
export function tagOf(typed: string, known: Named[]): string | null {
  const named = known.find((one) => fold(one.name) === fold(typed));
  if (named) return named.tag;
  const exact = known.find((one) => one.tag.toLowerCase() === typed.toLowerCase());
  if (exact) return exact.tag;
  const first = FORM.test(typed) ? shortest(typed.split(/[-_]/)[0] ?? '') : '';
  return known.some((one) => one.tag.toLowerCase() === first) ? typed : null;
}

/** `de` for `deu`, as BCP 47 has it; '' for what is no tag. */
function shortest(primary: string): string {
  try {
    return Intl.getCanonicalLocales(primary)[0] ?? '';
  } catch {
    return '';
  }
}
