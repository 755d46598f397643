/** Every word of the panel, in Simplified Chinese. @module */

import type { TimeUnit } from '../../lib/count-of.ts'
import type { Words } from './english.ts'

const UNITS: Readonly<Record<TimeUnit, string>> = {
  year: ' 年',
  month: ' 个月',
  day: ' 天',
  hour: ' 小时',
  minute: ' 分钟',
  second: ' 秒',
}

function endOf(streams: number): string {
  return streams === 0 ? '它的连接会断开。' : `它的连接会断开（现有 ${streams} 个）。`
}

export const chinese: Words = {
  lang: 'zh-CN',
  name: 'clipgate',
  newTab: '新标签页',
  loading: '正在询问 clipgate…',

  time: {
    now: '刚刚',
    ago: (n, unit) => `${n}${UNITS[unit]}前`,
    left: (n, unit) => `还剩 ${n}${UNITS[unit]}`,
  },

  link: {
    live: '已连接',
    paused: '已暂停',
    trying: '正在连接…',
    away: '无响应',
    refused: '未登录',
  },
  errors: {
    away: 'clipgate 没有响应。',
    signedOut: '此页面已退出登录。请再次运行“clipgate panel”。',
    unexpected: (status) => `clipgate 返回了状态 ${status}，原因见其日志。`,
    unreadable: '未发送：浏览器已无法读取此文件，请重新选择。',
    notPushed: (status) => {
      if (status === 400) return '未发送：文件不能使用此名称。'
      if (status === 413) return '未发送：内容超过 clipgate 的上限。'
      if (status === 507) return '未发送：此电脑的磁盘已满。'
      return `未发送：clipgate 返回了状态 ${status}。`
    },
  },

  problems: {
    heading: '需要处理',
    awayTitle: 'clipgate 没有响应',
    away: '页面显示的是之前的内容。clipgate 重新运行后，“clipgate panel”会打开新页面。启动命令：',
    awayCommand: 'clipgate serve',
    clipboard: '无法使用系统剪贴板',
    received: '有收到的内容不在接收文件夹中',
    receivedText: (reason) =>
      `${reason}。等待保存的内容会在收到下一个文件或 clipgate 重启时重试；已放弃的请重新发送。`,
    listener: (name) => (name !== 'control' ? '手机无法连接此电脑' : '此页面有问题'),
    devices: '一个已失效的密码尚未写入磁盘',
    devicesText: (reason) => `${reason}。在 clipgate 重启之前一直有效，之后会尽快保存。`,
    lost: '有些设备仍在使用此电脑已失去的地址',
    lostText: (urls) =>
      `它们是用 ${urls} 配对的。请在路由器中为此电脑保留该地址，或给它们新密码并扫描新的二维码。`,
    loopback: '手机无法连接此电脑',
    loopbackFix:
      '网关只在此电脑上监听。请设置 --listen 0.0.0.0:42720；如有代理通向这里，请设置 --public-url。',
    networkFix: '此电脑没有网络地址。请连接网络；如有代理通向这里，请设置 --public-url。',
  },

  signedOut: {
    heading: '此标签页未登录',
    why: '此页面显示和更改的内容只属于您，因此需要确认是您本人打开的。登录一直有效，直到 clipgate 停止或所有浏览器都已退出。',
    tab: '有已登录的标签页吗？请点其顶部的“新标签页”，即可再打开一个。',
    run: '否则请在运行 clipgate 的电脑上执行：',
    command: 'clipgate panel',
    then: '它会在新标签页中打开面板，此标签页可以关闭。',
  },

  item: {
    heading: '当前内容',
    none: '还没有内容',
    noneHint: '在此电脑上复制，或从手机发送。',
    types: { Text: '文本', Image: '图片', File: '文件', Group: '多个文件' },
    show: '显示预览',
    hide: '隐藏预览',
    hidden: '预览已隐藏。',
    noPreview: '此内容没有预览。',
    previewOf: '当前图片的预览',
    previewText: '当前文本的预览',
    cut: '仅显示开头部分。',
    all: '显示全部',
    copy: '复制',
    copied: '已复制。',
    notCopied: '此浏览器不允许页面复制。',
    save: '保存',
    changed: '当前内容已更改。',
    openFolder: '打开文件夹',
    folder: (path) => `收到的文件位于 ${path}。`,
    noFolder: (path) => `没有程序能打开该文件夹。收到的文件位于 ${path}。`,
    senders: {
      clipboard: '在此电脑上复制',
      owner: '从此电脑发送',
      device: (label) => `来自 ${label}`,
      removed: '来自已移除的设备',
      other: '来自另一台电脑',
    },
    announce: (type, size) => `新内容：${type}，${size}`,
  },

  transfers: {
    heading: '正在传输',
    here: '此电脑',
    from: (device) => `来自 ${device}`,
    to: (device) => `发往 ${device}`,
    of: (done, total) => `${done} / ${total}`,
  },

  push: {
    heading: '发送',
    label: '要发送的文本',
    placeholder: '输入或粘贴文本；文件可拖放或粘贴到页面任意位置',
    submit: '发送',
    files: '选择文件',
    sending: (name) => `正在发送 ${name}…`,
    held: {
      offline: '正在等待网络，将自动继续。',
      away: '正在等待 clipgate，将自动继续。',
      busy: 'clipgate 正忙，将自动继续。',
    },
    cancel: '取消',
    sent: (name) => `${name} 已发送。`,
    sentText: '文本已发送。',
  },

  recent: {
    heading: '最近内容',
    hint: '只在 clipgate 的内存中，随它一起消失。',
    forget: '全部忘记',
    use: '再次使用',
    useName: (name) => `再次使用：${name}`,
    copy: '复制',
    copyName: (name) => `复制：${name}`,
    save: '保存',
    saveName: (name) => `保存：${name}`,
    remove: '移除',
    removeName: (name) => `移除：${name}`,
    search: '在最近内容中搜索',
    notFound: '最近内容中没有找到。',
    text: '一段文本',
    gone: '它已不在列表中。',
    announceForgotten: '已忘记最近内容',
  },

  few: { all: (count) => `全部 ${count} 项`, few: '仅最新内容' },

  happened: {
    heading: '发生了什么',
    none: '自 clipgate 启动以来还没有。',
    hint: '只在 clipgate 的内存中，从不包含复制的内容。',
    owner: '此电脑',
    other: '另一台设备',
    unknown: '未知',
    things: { Text: '一段文本', Image: '一张图片', File: '一个文件', Group: '多个文件' },
    by: { start: '启动时', command: '通过命令', panel: '在面板中' },
    sentences: {
      pushed: ({ name, what }) => `${name} 发送了${what}`,
      received: ({ name, what }) => `${name} 发送了${what}`,
      copied: ({ what }) => `在此电脑上复制了${what}`,
      paired: ({ name, by }) => `${by}添加了 ${name}`,
      rotated: ({ name, by }) => `${by}为 ${name} 设置了新密码`,
      ended: ({ name }) => `${name} 的密码已失效`,
      revoked: ({ name, by }) => `${by}移除了 ${name}`,
      connected: ({ name, address }) => `${name} 从新地址登录：${address}`,
      refused: ({ name, times, address }) =>
        `${times} 次以 ${name} 登录被拒绝：密码错误；来自 ${address}`,
      paused: ({ until }) => (until === null ? '共享已暂停' : `共享已暂停，直到 ${until}`),
      resumed: () => '共享已恢复',
    },
  },

  pause: {
    heading: '共享',
    on: '在此电脑上复制的内容会与您的设备共享，它们发送的内容会放入此电脑的剪贴板。',
    off: 'clipgate 不使用此电脑的剪贴板。设备之间通过它共享。',
    until: (clock) => `暂停至 ${clock}。您复制的内容留在此电脑上，设备发送的内容会等待。`,
    open: '已暂停，直到您恢复。您复制的内容留在此电脑上，设备发送的内容会等待。',
    group: '暂停共享',
    choices: [
      { label: '10 分钟', name: '暂停 10 分钟', ms: 600_000 },
      { label: '1 小时', name: '暂停 1 小时', ms: 3_600_000 },
      { label: '直到恢复', name: '暂停，直到恢复', ms: null },
    ],
    resume: '立即恢复',
    announceOn: '共享已恢复',
    announceOff: '共享已暂停',
  },

  devices: {
    heading: '设备',
    add: '添加设备',
    none: '还没有设备',
    noneHint: '添加您的手机：扫描一次即可。',
    kinds: { phone: '手机', peer: '其他电脑' },
    lastSeen: '上次连接',
    never: '从未',
    app: '应用',
    address: '地址',
    streams: '连接数',
    unknown: '–',
    inactive: '没有有效密码',
    connected: '正在接收',
    rotate: '新密码',
    rotateName: (label) => `为 ${label} 设置新密码`,
    revoke: '移除',
    revokeName: (label) => `移除 ${label}`,
    announceAdded: (label) => `已添加 ${label}`,
    announceRemoved: (label) => `已移除 ${label}`,
  },

  daemon: {
    heading: '此电脑',
    mode: '运行方式',
    modes: { desktop: '使用桌面', headless: '不使用桌面' },
    version: '版本',
    started: '启动时间',
    clipboard: '剪贴板',
    clipboards: { x11: 'X11', wayland: 'Wayland', macos: 'macOS', windows: 'Windows' },
    listeners: { gateway: '供手机使用', tls: '供手机使用（HTTPS）', control: '此页面' },
    fingerprint: '指纹',
    trust: '信任页面',
    peer: '已加入',
    peerStates: {
      stopped: '未连接',
      connecting: '正在连接…',
      connected: '已连接',
      polling: '已连接，每 10 秒询问一次',
      waiting: '无响应，正在重试',
      refused: '拒绝了我们',
    },
    bus: '群组',
    busStates: {
      connecting: '正在连接…',
      connected: '已连接',
      waiting: '消息代理无响应，正在重试',
    },
    busMembers: (n) => (n === 0 ? '最近没有其他成员' : `${n} 个其他成员`),
    busRefused: (n) => (n === 0 ? '' : `${n} 个信号未用我们的群组密钥加密`),
    folder: '数据文件夹',
    free: '可用空间',
    staged: '未完成的上传',
    uploads: (n, size) => (n === 0 ? '无' : `${n}（${size}）`),
    signOut: '退出所有浏览器',
  },

  add: {
    title: '添加设备',
    intro: '设备会得到自己的用户名和密码，以后可以单独移除它，不影响其他设备。',
    label: '名称',
    labelHint: '供您区分设备。',
    placeholder: '手机',
    address: '设备使用的地址',
    addressOnly: '设备将使用此地址：',
    kinds: {
      lan: '本地网络',
      overlay: '叠加网络或 VPN',
      public: '公网地址',
      loopback: '仅限此电脑',
    },
    likely: '通常选择',
    secure: 'HTTPS',
    trust: '手机须先信任此电脑，再扫描二维码。请先在手机上打开此页面：',
    loopback: '只有此电脑上的程序能访问此地址，手机不能。',
    submit: '显示二维码',
    cancel: '取消',
  },

  pairing: {
    title: (label) => `连接 ${label}`,
    page: {
      scan: '用手机相机扫描：',
      caption: '会打开带剪贴板的页面，无需安装任何应用。',
      other: '显示供应用使用的二维码',
    },
    app: {
      scan: '在应用内扫描，',
      caption:
        '该应用须能打开 clip:// 连接。不要用手机的相机应用：它会在网上搜索此链接，而密码就在其中。',
      other: '显示供相机使用的二维码',
    },
    qr: (label) => `连接 ${label} 的二维码`,
    hand: '或手动输入',
    handHint: '用于支持 SyncClipboard 协议的其他应用。',
    url: '网址',
    username: '用户名',
    password: '密码',
    reveal: '显示密码',
    conceal: '隐藏密码',
    once: '密码只显示这一次，关闭后即忘记。',
    copy: '复制链接',
    copyHint: '链接中含有密码。为了不让它传到其他设备，会先暂停共享一分钟。',
    copyHintPaused: '链接中含有密码。共享已暂停，因此它留在此电脑上。',
    copyHintHeadless: '链接中含有密码：请只粘贴到应去的地方。',
    copied: '已复制。',
    copiedPaused: '已复制。共享暂停一分钟。',
    select: '此浏览器不允许页面复制。链接已选中：请按 Ctrl+C 或 ⌘C。',
    link: '连接链接',
    done: '完成',
    test: '从手机测试',
    waiting: (label) => `正在等待 ${label} 的第一个请求…`,
    waitingHint: '请扫描二维码，或让应用连接一次。',
    seen: (label) => `${label} 已连接`,
    seenBy: (client, address) => `${client} 从 ${address} 发来请求。`,
    seenPlain: '已收到它的第一个请求。',
    refused: (username, address) =>
      `以 ${username} 登录被拒绝${address === null ? '' : `（来自 ${address}）`}：` +
      '密码错误。请再次扫描二维码，或重新复制密码。',
    slow: '还没有反应？请检查：',
    checks: [
      '手机和电脑在同一网络：同一个 Wi-Fi，不是访客网络，也不是移动数据。',
      '手机没有使用阻断本地网络的 VPN。',
      '此电脑的防火墙放行该地址的端口。',
      '应用中的用户名和密码完全正确，并设置为“SyncClipboard 服务器”。',
    ],
    probe: '用手机浏览器打开此网址；若出现 clipgate 页面，说明连接畅通：',
    probeBare: '用手机浏览器打开此网址；若没有报错，说明连接畅通：',
    closeSure: (label) => `${label} 尚未连接，此二维码无法再次显示。`,
    closeAnyway: '仍然关闭',
    keepOpen: '保持打开',
  },

  rotate: ({ label, streams }) => ({
    title: `为 ${label} 设置新密码？`,
    effects: [
      `${label} 现在的密码会立即失效。`,
      endOf(streams),
      '您会得到新的二维码。在扫描之前，该设备不能读写剪贴板。',
    ],
    submit: '设置新密码',
  }),
  revoke: ({ label, streams }) => ({
    title: `移除 ${label}？`,
    effects: [
      `${label} 的密码会立即失效。`,
      endOf(streams),
      '它已收到的内容仍留在它上面。要再次使用，须重新添加。',
    ],
    submit: '移除设备',
  }),
  signOut: {
    title: '退出所有浏览器？',
    effects: [
      '所有已登录此面板的浏览器都会退出，包括这一个。',
      '设备不受影响。运行“clipgate panel”可再次登录。',
    ],
    submit: '退出',
  },
  announceAway: 'clipgate 没有响应',
  announceBack: '已重新连接 clipgate',
}
