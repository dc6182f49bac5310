// The views, each loaded when it is first opened. A new view is a folder and a line here.
import type { Component } from 'svelte';
import type { Key } from '$lib/i18n/index.svelte';
import LibraryIcon from '@lucide/svelte/icons/library';
import ExportIcon from '@lucide/svelte/icons/file-output';
import FiguresIcon from '@lucide/svelte/icons/chart-column';
import HandsIcon from '@lucide/svelte/icons/signature';
import MapsIcon from '@lucide/svelte/icons/map';
import ProposalsIcon from '@lucide/svelte/icons/git-pull-request';
import PeopleIcon from '@lucide/svelte/icons/users';
import SearchIcon from '@lucide/svelte/icons/search';
import SettingsIcon from '@lucide/svelte/icons/settings';
import WorkIcon from '@lucide/svelte/icons/list-checks';

export type Load = () => Promise<{ default: Component }>;

/** Views of a project. */
export const VIEWS: Record<string, Load> = {
  library: () => import('./library/Library.svelte'),
  page: () => import('./page/Page.svelte'),
  work: () => import('./work/Work.svelte'),
  search: () => import('./search/Search.svelte'),
  people: () => import('./people/People.svelte'),
  hands: () => import('./hands/Hands.svelte'),
  maps: () => import('./maps/Maps.svelte'),
  proposals: () => import('./proposals/Proposals.svelte'),
  figures: () => import('./figures/Figures.svelte'),
  export: () => import('./export/Export.svelte'),
  settings: () => import('./settings/Settings.svelte'),
  trash: () => import('./trash/Trash.svelte'),
  history: () => import('./history/History.svelte'),
};

/** Views of no project. */
export const OUTSIDE: Record<string, Load> = {
  projects: () => import('./projects/Projects.svelte'),
};

/** What stands at the left of the window, in this order. */
export const RAIL: { view: string; title: Key; icon: Component }[] = [
  { view: 'library', title: 'nav.library', icon: LibraryIcon },
  { view: 'work', title: 'nav.work', icon: WorkIcon },
  { view: 'search', title: 'nav.search', icon: SearchIcon },
  { view: 'people', title: 'nav.people', icon: PeopleIcon },
  { view: 'hands', title: 'nav.hands', icon: HandsIcon },
  { view: 'maps', title: 'nav.maps', icon: MapsIcon },
  { view: 'proposals', title: 'nav.proposals', icon: ProposalsIcon },
  { view: 'figures', title: 'nav.figures', icon: FiguresIcon },
  { view: 'export', title: 'nav.export', icon: ExportIcon },
  { view: 'settings', title: 'nav.settings', icon: SettingsIcon },
];
