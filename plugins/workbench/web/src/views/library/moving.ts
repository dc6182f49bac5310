// Dragging things of the library onto a folder.
import { api, ask } from '$lib/api/client';
import { tellRefusal } from '$lib/notices.svelte';

const KIND = 'application/x-armarium-documents';

export function startDrag(event: DragEvent, ids: string[]): void {
  event.dataTransfer?.setData(KIND, JSON.stringify(ids));
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move';
}

export const isDraggingOurs = (event: DragEvent) => event.dataTransfer?.types.includes(KIND) ?? false;

export const moveTo = (ids: string[], folder: string | null) =>
  ask(api.POST('/api/documents/move', { body: { ids, parent_id: folder } }));

/** Makes an element a place to which things are moved by dropping them on it. */
export const dropTarget = (folder: string | null) => (element: HTMLElement) => {
  const over = (event: DragEvent) => {
    if (!isDraggingOurs(event)) return;
    event.preventDefault();
    element.classList.add('dropping');
  };
  const leave = () => element.classList.remove('dropping');
  const drop = (event: DragEvent) => {
    leave();
    const given = event.dataTransfer?.getData(KIND);
    if (!given) return;
    event.preventDefault();
    event.stopPropagation();
    const ids = (JSON.parse(given) as string[]).filter((id) => id !== folder);
    if (ids.length > 0) moveTo(ids, folder).catch(tellRefusal);
  };
  element.addEventListener('dragover', over);
  element.addEventListener('dragleave', leave);
  element.addEventListener('drop', drop);
  return () => {
    element.removeEventListener('dragover', over);
    element.removeEventListener('dragleave', leave);
    element.removeEventListener('drop', drop);
  };
};
