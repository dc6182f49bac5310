// How the application is built: hashed files beside one index.html, nothing inline, all addresses relative.
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const engine = process.env['ARMARIUM_ENGINE'] ?? 'http://127.0.0.1:8765';
const proxy = { '/api': { target: engine, changeOrigin: true, headers: { origin: engine } } };

export default defineConfig({
  plugins: [svelte()],
  base: './',
  resolve: {
    alias: { $lib: here('./src/lib'), $components: here('./src/components') },
    // Tests run in a document, so they take what a browser takes.
    ...(process.env['VITEST'] ? { conditions: ['browser'] } : {}),
  },
  build: {
    outDir: here('../src/armarium_workbench/app'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev` and `npm run preview` beside an engine: its routes, as if the page came from it.
  server: { proxy },
  preview: { proxy },
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'] },
});
