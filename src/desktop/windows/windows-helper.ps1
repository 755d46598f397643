# The Windows side of the clipboard: runs for as long as the daemon does, and speaks the lines that
# helper/clipboard-messages.ts describes.
#
# What it does is written in C#, beside this file: only a window hears of copies, and PowerShell
# has none. Windows PowerShell 5.1 is a part of every Windows, and compiles C# 5.

$ErrorActionPreference = 'Stop'
# Progress is drawn on stdout.
$ProgressPreference = 'SilentlyContinue'

$sources = @(
  'windows-helper.cs'
  'contents-helper.cs'
  'formats-helper.cs'
  'win32-helper.cs'
  'json-helper.cs'
) | ForEach-Object { Join-Path $PSScriptRoot $_ }

Add-Type -Path $sources -ReferencedAssemblies @(
  'System.Core'
  'System.Drawing'
  'System.Runtime.Serialization'
  'System.Windows.Forms'
  'System.Xml'
  'System.Xml.Linq'
)

[Clipgate.Helper]::Run()
