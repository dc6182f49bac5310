// Every sentence of the application in Spanish.
import type { Catalogue } from './index.svelte';

export const es: Catalogue = {
  'app.name': 'Armarium',
  'app.skip': 'Ir al contenido',
  'app.views': 'Vistas',
  'app.loading': 'Cargando…',
  'app.again': 'Reintentar',
  'app.close': 'Cerrar',
  'app.cancel': 'Cancelar',
  'app.save': 'Guardar',
  'app.more': 'Más',
  'app.unreachable': 'El motor no responde. Puede que se haya detenido; inícielo con «armarium open».',
  'app.gone': 'No hay nada en esta dirección.',
  'app.home': 'A los proyectos',

  'nav.library': 'Biblioteca',
  'nav.work': 'Trabajo',
  'nav.search': 'Buscar',
  'nav.people': 'Personas y lugares',
  'nav.figures': 'Cifras',
  'nav.export': 'Exportar',
  'nav.settings': 'Ajustes',

  'theme.label': 'Apariencia',
  'theme.auto': 'Como el sistema',
  'theme.light': 'Claro',
  'theme.dark': 'Oscuro',
  'language.label': 'Idioma',

  'signin.title': 'Sin sesión',
  'signin.how': 'El enlace que abre la mesa de trabajo sirve una sola vez. Pida otro en una terminal:',
  'signin.then': 'Abra la dirección que imprime. Este navegador conservará la sesión.',
  'signin.code': 'O escriba un código de emparejamiento',
  'signin.codeHint': 'Un propietario lo crea con «armarium token pair».',
  'signin.go': 'Entrar',
  'signin.used': 'Este enlace ya se usó o ha caducado.',

  'projects.title': 'Proyectos',
  'projects.empty':
    'Todavía no hay proyectos. Un proyecto es una carpeta de este equipo; sus páginas se copian en ella.',
  'projects.new': 'Proyecto nuevo',
  'projects.name': 'Nombre',
  'projects.where': 'Carpeta',
  'projects.whereHint':
    'La ruta completa en este equipo. El proyecto será una carpeta propia dentro de ella.',
  'projects.create': 'Crear',
  'projects.opened': 'Abierto por última vez {when}',

  'undo.undo': 'Deshacer',
  'undo.redo': 'Rehacer',
  'undo.undone': 'Deshecho: {words}',
  'undo.redone': 'Rehecho: {words}',
  'undo.nothing': 'No hay nada que deshacer.',
  'undo.nothingRedo': 'No hay nada que rehacer.',
};
