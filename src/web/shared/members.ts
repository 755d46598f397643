/** The files of a Group, with a way to save each of them, and all. @module */

import { button, h, inOrder } from './dom.ts'
import { formatBytes, isChinese } from './language.ts'

/** Browsers leave out some of many downloads that begin at once. */
const BETWEEN_SAVES_MS = 300

const words = isChinese
  ? {
      save: '保存',
      all: '全部保存',
      zip: '保存为一个 zip 文件',
      count: (count: number, size: string) => `${count} 个文件，${size}`,
    }
  : {
      save: 'Save',
      all: 'Save all',
      zip: 'Save as one zip file',
      count: (count: number, size: string) =>
        `${count === 1 ? '1 file' : `${count} files`}, ${size}`,
    }

/** Says to save all of them as they are kept. */
export const saveZip: string = words.zip

/** A file of a Group. */
export interface Member {
  /** With the folders that it is in. */
  readonly name: string
  /** In bytes. */
  readonly size: number
}

/** The words, the name and the way of a saver. */
export interface Saver {
  readonly label: string
  /** The words of screen readers. */
  readonly about: string
  /** The name under which it is saved. */
  readonly fileName: string
  /** Leads to it behind the path of a ticket. */
  readonly query: string
}

/** @param saverOf Makes what saves a file when it is clicked. */
export function createMembers(
  members: readonly Member[],
  saverOf: (saver: Saver) => HTMLElement,
): readonly HTMLElement[] {
  const savers = members.map(({ name }, index) => {
    const fileName = name.slice(name.lastIndexOf('/') + 1)
    const query = `?member=${index + 1}`
    return saverOf({ label: words.save, about: `${words.save}: ${inOrder(name)}`, fileName, query })
  })
  const rows = members.map(({ name, size }, index) => {
    const about = h('span', { class: 'note' }, formatBytes(size))
    const title = h('p', { class: 'name', dir: 'auto' }, inOrder(name))
    return h('li', {}, title, savers[index] ?? '', about)
  })
  const all = button(words.all, saveAll, { class: 'main' })
  const total = members.reduce((sum, { size }) => sum + size, 0)

  async function saveAll() {
    all.disabled = true
    for (const saver of savers) {
      saver.click()
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_SAVES_MS))
    }
    all.disabled = false
  }

  const sum = h('p', { class: 'name' }, words.count(members.length, formatBytes(total)))
  return [sum, h('ul', { class: 'members' }, ...rows), all]
}
