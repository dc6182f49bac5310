// Light, dark, or as the system.
export type Theme = 'auto' | 'light' | 'dark';
const KEPT = 'armarium.theme';
let theme = $state<Theme>((localStorage.getItem(KEPT) as Theme | null) ?? 'auto');

const show = () => {
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset['theme'] = theme;
};
show();

export const currentTheme = () => theme;
export function chooseTheme(wanted: Theme): void {
  theme = wanted;
  localStorage.setItem(KEPT, wanted);
  show();
}
