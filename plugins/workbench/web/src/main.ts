// The start: language, session, then the window.
import { mount } from 'svelte';
import App from './App.svelte';
import { startLanguage } from '$lib/i18n/index.svelte';
import { startSession } from '$lib/session.svelte';
import '$lib/theme.svelte';
import './styles/tokens.css';
import './styles/base.css';

const target = document.getElementById('app');
if (target) {
  await startLanguage();
  void startSession();
  mount(App, { target });
}
