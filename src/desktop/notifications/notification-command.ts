/**
 * How each platform shows a notification: a program, run without a shell, whose script, where it
 * needs one, never changes. What is to be shown is an argument or a variable.
 * @module
 */

/** The words that a person reads. */
export interface Notification {
  readonly title: string
  readonly text: string
}

interface NotificationCommand {
  readonly program: string
  readonly args: readonly string[]
  /** Besides those that it inherits. */
  readonly environment: Readonly<Record<string, string>>
}

// Controls, halves of surrogate pairs, what ends lines and what turns them around.
const OBEYED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

const MARKUP: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&apos;'],
])

const APPLE_SCRIPT = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv)',
  'end run',
]

// Windows shows toasts of programs that it knows, and it knows PowerShell. The texts become nodes
// of the toast, never parts of its XML.
const POWERSHELL_SCRIPT = [
  "$ErrorActionPreference = 'Stop'",
  '$manager = [Windows.UI.Notifications.ToastNotificationManager, ' +
    'Windows.UI.Notifications, ContentType = WindowsRuntime]',
  '$template = [Windows.UI.Notifications.ToastTemplateType]::ToastText02',
  '$toast = $manager::GetTemplateContent($template)',
  "$texts = $toast.GetElementsByTagName('text')",
  '[void]$texts.Item(0).AppendChild($toast.CreateTextNode($env:NOTIFICATION_TITLE))',
  '[void]$texts.Item(1).AppendChild($toast.CreateTextNode($env:NOTIFICATION_TEXT))',
  "$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'",
  '$shown = [Windows.UI.Notifications.ToastNotification]::new($toast)',
  '$manager::CreateToastNotifier($app).Show($shown)',
].join('; ')

/** @param systemRoot Of Windows: the folder in which it is installed. */
export function notificationCommand(
  platform: NodeJS.Platform,
  notification: Notification,
  systemRoot = 'C:\\Windows',
): NotificationCommand {
  const title = notification.title.replace(OBEYED, '\ufffd')
  const text = notification.text.replace(OBEYED, '\ufffd')
  if (platform === 'darwin') {
    const script = APPLE_SCRIPT.flatMap((line) => ['-e', line])
    return { program: '/usr/bin/osascript', args: [...script, title, text], environment: {} }
  }
  if (platform === 'win32') {
    return {
      program: `${systemRoot}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
      args: ['-NoProfile', '-NonInteractive', '-Command', POWERSHELL_SCRIPT],
      environment: { NOTIFICATION_TITLE: title, NOTIFICATION_TEXT: text },
    }
  }
  return {
    program: 'notify-send',
    args: ['--app-name=clipgate', '--', title, formatBody(text)],
    environment: {},
  }
}

/**
 * Notification servers read the body as markup, and before them `notify-send` reads escapes in it:
 * `\074` would become `<`.
 */
function formatBody(text: string): string {
  const escaped = text.replace(/[&<>"']/g, (character) => MARKUP.get(character) ?? '')
  return escaped.replaceAll('\\', '\\\\')
}
