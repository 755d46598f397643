/** Every word of the page, in English and in Simplified Chinese. @module */

import type { Failure } from '../shared/request.ts'
import { isChinese, formatBytes } from '../shared/language.ts'

/** Where the files are that were sent. */
export interface Pushed {
  /** How many they are. */
  readonly files: number
  /** The folder on the computer, where it has one. */
  readonly folder?: string
  /** Whether the clipboard of the computer gets them. */
  readonly clipboard?: boolean
}

const english = {
  lang: 'en',
  ways: {
    trying: 'Connecting',
    live: 'Connected',
    away: 'Computer not reached',
    refused: 'Disconnected',
    forgotten: 'Signed out',
  },
  types: { Text: 'Text', Image: 'Image', File: 'File', Group: 'Files' },
  facts: (type: string, size: string) => `${type}, ${size}`,
  clipboard: 'Clipboard',
  sentBy: (from: string, at: string) => (from === '' ? at : `from ${from}, ${at}`),
  recent: 'Recent items',
  paused: 'The computer has paused sharing. What you send waits there until it goes on.',
  nothing: 'Nothing there yet',
  nothingHint: 'Copy something on the computer, or send something from here.',
  copy: 'Copy',
  copied: 'Copied',
  holdToCopy: 'This browser did not copy it. Hold the selected text, and choose Copy.',
  shortened: (size: number) => `The beginning of ${formatBytes(size)}. Copy takes all of it.`,
  save: 'Save',
  pictureOf: 'The image on the clipboard',
  openInBrowser: 'Open this page in Safari to save: an app on the home screen shows it only.',
  send: 'Send',
  sendHeading: 'Send to the computer',
  placeholder: 'Type or paste here',
  paste: 'Paste',
  files: 'Photos, files',
  camera: 'Camera',
  sent: 'Sent',
  sentTo: ({ files, folder, clipboard }: Pushed) => {
    if (folder !== undefined) return `Sent: ${clipboard ? 'on the clipboard and ' : ''}in ${folder}`
    return files === 1 ? 'Sent' : `Sent: ${files} files as one group`
  },
  sum: (there: number, count: number, percent: number) =>
    count === 1 ? `Sending, ${percent} %` : `${there} of ${count} files, ${percent} %`,
  tooMany: (most: number) => `At most ${most} files can be sent at once.`,
  there: 'There, and waiting for the others',
  sendingText: 'Sending…',
  unsent: 'Not sent yet',
  sending: (done: string, size: string, speed: string) =>
    `${done} of ${size}${speed === '' ? '' : `, ${speed}/s`}`,
  sendShared: (count: number) => `Send what was shared (${count})`,
  copyImage: 'Copy image',
  notCopied: 'This browser did not copy it. Hold the image instead.',
  waiting: 'Waiting',
  restarted: 'Started over: the computer no longer had the beginning.',
  storing: 'All there. The computer is storing it.',
  held: {
    offline: (percent: number) =>
      `Waiting for the network, ${percent} % sent. It goes on by itself.`,
    away: (percent: number) => `Waiting for the computer, ${percent} % sent. It goes on by itself.`,
    busy: (percent: number) => `The computer is busy, ${percent} % sent. It goes on by itself.`,
  },
  cancel: 'Cancel',
  again: 'Try again',
  remove: 'Remove from the list',
  secure: 'Use HTTPS',
  secureHint: 'Then this page can paste in one tap, copy images and be installed.',
  trust: 'Trust the computer first',
  goOn: (host: string) => `Go on at ${host}`,
  openInApp: 'Use another app',
  appHint: 'The app must be on this phone. It gets the address and the password.',
  clipApp: 'App for clip:// links',
  uniclip: 'UniClip',
  forget: 'Sign out on this phone',
  forgetSure: 'Tap again to sign out',
  forgotten: 'Signed out',
  forgottenHint: 'Nothing is left in this browser. Scan a new code to come back.',
  scan: 'Connect this phone',
  scanHint:
    'Open clipgate on your computer, choose “Add a device” (or run “clipgate pair”), and scan the code with the camera.',
  damaged: 'This code cannot be read',
  removed: 'This phone was disconnected on the computer',
  failures: {
    away: 'The computer does not answer. Is it on, and is this phone in the same network?',
    elsewhere: 'Another clipgate has this address now. Scan a new code on your computer.',
    refused: 'This phone was disconnected on the computer.',
    gone: 'Something newer is on the clipboard.',
    tooLarge: 'That is too large for the computer.',
    busy: 'The computer is busy. Try again in a moment.',
    unreadable: 'This phone no longer gives the file to the browser. Choose it again.',
    full: 'The disk of the computer is full.',
    unexpected: 'That did not work. “clipgate doctor” on the computer may say why.',
  } satisfies Readonly<Record<Failure, string>>,
}

const chinese: typeof english = {
  lang: 'zh-CN',
  ways: {
    trying: '正在连接',
    live: '已连接',
    away: '无法连接',
    refused: '已断开',
    forgotten: '已退出',
  },
  types: { Text: '文本', Image: '图片', File: '文件', Group: '多个文件' },
  facts: (type, size) => `${type}，${size}`,
  clipboard: '剪贴板',
  sentBy: (from, at) => (from === '' ? at : `来自 ${from}，${at}`),
  recent: '最近的内容',
  paused: '电脑已暂停共享。您发送的内容会在电脑上等待，直到恢复共享。',
  nothing: '还没有内容',
  nothingHint: '在电脑上复制，或从这里发送。',
  copy: '复制',
  copied: '已复制',
  holdToCopy: '浏览器未能复制。请长按选中的文字，再选择“复制”。',
  shortened: (size) => `这是 ${formatBytes(size)} 的开头。“复制”会复制全部内容。`,
  save: '保存',
  pictureOf: '剪贴板中的图片',
  openInBrowser: '请在 Safari 中打开此页面来保存：主屏幕应用只能预览文件。',
  send: '发送',
  sendHeading: '发送到电脑',
  placeholder: '在此输入或粘贴',
  paste: '粘贴',
  files: '照片、文件',
  camera: '拍照',
  sent: '已发送',
  sentTo: ({ files, folder, clipboard }) => {
    if (folder !== undefined)
      return `已发送：${clipboard ? '已放入剪贴板，并' : ''}保存在 ${folder}`
    return files === 1 ? '已发送' : `已发送：${files} 个文件，合为一组`
  },
  sum: (there, count, percent) =>
    count === 1 ? `正在发送，${percent}%` : `${there} / ${count} 个文件，${percent}%`,
  tooMany: (most) => `一次最多可发送 ${most} 个文件。`,
  there: '已送达，正在等待其他文件',
  sendingText: '正在发送…',
  unsent: '尚未发送',
  sending: (done, size, speed) => `${done} / ${size}${speed === '' ? '' : `，${speed}/秒`}`,
  sendShared: (count) => `发送分享的内容（${count}）`,
  copyImage: '复制图片',
  notCopied: '浏览器未能复制。请长按图片。',
  waiting: '等待中',
  restarted: '已重新开始：电脑未能保留之前的内容。',
  storing: '已全部送达，电脑正在保存。',
  held: {
    offline: (percent) => `等待网络，已发送 ${percent}%。将自动继续。`,
    away: (percent) => `等待电脑响应，已发送 ${percent}%。将自动继续。`,
    busy: (percent) => `电脑正忙，已发送 ${percent}%。将自动继续。`,
  },
  cancel: '取消',
  again: '重试',
  remove: '从列表中移除',
  secure: '使用 HTTPS',
  secureHint: '之后此页面可以一键粘贴、复制图片，并可安装。',
  trust: '先信任此电脑',
  goOn: (host) => `在 ${host} 继续`,
  openInApp: '使用其他应用',
  appHint: '手机上须已安装该应用。它会获得地址和密码。',
  clipApp: '支持 clip:// 链接的应用',
  uniclip: 'UniClip',
  forget: '在此手机上退出',
  forgetSure: '再点一次即可退出',
  forgotten: '已退出',
  forgottenHint: '此浏览器中不再保留任何内容。要重新连接，请扫描新的二维码。',
  scan: '连接此手机',
  scanHint: '在电脑上打开 clipgate，选择“添加设备”（或运行“clipgate pair”），再用相机扫描二维码。',
  damaged: '无法读取此二维码',
  removed: '电脑已断开此手机',
  failures: {
    away: '电脑没有响应。电脑开机了吗？手机是否在同一网络中？',
    elsewhere: '此地址现在属于另一个 clipgate。请在您的电脑上扫描新的二维码。',
    refused: '电脑已断开此手机。',
    gone: '剪贴板上已有更新的内容。',
    tooLarge: '内容太大，电脑无法接收。',
    busy: '电脑正忙，请稍后再试。',
    unreadable: '手机不再允许浏览器读取此文件，请重新选择。',
    full: '电脑磁盘已满。',
    unexpected: '操作失败。在电脑上运行“clipgate doctor”可查看原因。',
  },
}

export const strings = isChinese ? chinese : english
