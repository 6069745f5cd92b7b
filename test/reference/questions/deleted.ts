import type { ApiTable } from '../interpreter/api-types.ts'
import { mayBeDeleted } from '../interpreter/deleted.ts'
import { typeOf } from '../interpreter/links.ts'
import { isName } from '../interpreter/names.ts'
import { place, type Tree } from './input.ts'
import type { Scene } from './scene.ts'

/** The argument for deleted rows (spec/graphql.md 17.5), mostly absent. */
export function drawDeleted(scene: Scene, { sketch }: ApiTable): readonly (readonly [string, Tree])[] {
  return mayBeDeleted(sketch) ? drawAsked(scene) : []
}

/** The same for `node`, which has it if any table with a type for some role has the setting. */
export function drawDeletedNode(scene: Scene): readonly (readonly [string, Tree])[] {
  const { world } = scene
  const has = world.tables.some((table) => table.softDelete !== undefined && isName(typeOf(world, table)))
  return has ? drawAsked(scene) : []
}

function drawAsked(scene: Scene): readonly (readonly [string, Tree])[] {
  const { draw } = scene
  if (draw.chance(55)) return []
  const word = draw.pick(['WITH', 'ONLY', 'WITHOUT'])
  scene.tell(`deleted: ${word}`)
  return [['deleted', place(scene, 'DeletedRows!', { word })]]
}
