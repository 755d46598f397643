// A foreign Windows program: it copies and pastes as others do, well and badly, one act a run.
// What it says are lines of UTF-8, a word and what belongs to it.
#define _WIN32_WINNT 0x0602
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <wchar.h>
#include <windows.h>
#include <shellapi.h>
#include <shlobj.h>

static HWND window;
static LPWSTR *words;
static enum { RENDER, DIE, HANG } manners;

static void say(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  putchar('\n');
  fflush(stdout);
}

static void fail(const char *what) {
  say("failed %s %lu", what, GetLastError());
  ExitProcess(1);
}

// Says a word and a text on one line.
static void sayText(const char *word, const WCHAR *text) {
  int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char *bytes = malloc(size), *lines = malloc(2 * size), *end = lines;
  WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, size, NULL, NULL);
  for (char *at = bytes; *at != 0; at++) {
    if (*at == '\r' || *at == '\n' || *at == '\\') *end++ = '\\';
    *end++ = *at == '\r' ? 'r' : *at == '\n' ? 'n' : *at;
  }
  *end = 0;
  say("%s %s", word, lines);
  free(bytes);
  free(lines);
}

static HGLOBAL keep(const void *bytes, size_t size) {
  HGLOBAL memory = GlobalAlloc(GMEM_MOVEABLE, size);
  memcpy(GlobalLock(memory), bytes, size);
  GlobalUnlock(memory);
  return memory;
}

static void offer(UINT format, const void *bytes, size_t size) {
  if (SetClipboardData(format, keep(bytes, size)) == NULL) fail("SetClipboardData");
}

static void offerText(const WCHAR *text) {
  offer(CF_UNICODETEXT, text, (wcslen(text) + 1) * sizeof(WCHAR));
}

// Another program has it for a moment now and then.
static void openClipboard(void) {
  for (int tries = 0; !OpenClipboard(window); tries++) {
    if (tries == 0) say("busy");
    if (tries == 2000) fail("OpenClipboard");
    Sleep(5);
  }
}

static void beginCopy(void) {
  openClipboard();
  if (!EmptyClipboard()) fail("EmptyClipboard");
}

static void endCopy(void) {
  CloseClipboard();
  say("copied %lu", GetClipboardSequenceNumber());
}

static void copyPng(const WCHAR *path) {
  FILE *file = _wfopen(path, L"rb");
  if (file == NULL) fail("fopen");
  fseek(file, 0, SEEK_END);
  size_t size = ftell(file);
  rewind(file);
  void *bytes = malloc(size);
  if (fread(bytes, 1, size, file) != size) fail("fread");
  fclose(file);
  beginCopy();
  offer(RegisterClipboardFormatW(L"PNG"), bytes, size);
  endCopy();
}

// An image of one color, with a first pixel, top left, of another: colors are AARRGGBB.
static void copyImage(UINT format, int bits) {
  int width = _wtoi(words[2]), height = _wtoi(words[3]);
  DWORD first = wcstoul(words[4], NULL, 16), rest = wcstoul(words[5], NULL, 16);
  int row = (width * bits / 8 + 3) & ~3;
  int size = format == CF_DIBV5 ? sizeof(BITMAPV5HEADER) : sizeof(BITMAPINFOHEADER);
  BYTE *image = calloc(1, size + row * height);
  BITMAPV5HEADER *header = (BITMAPV5HEADER *)image;
  header->bV5Size = size;
  header->bV5Width = width;
  header->bV5Height = height;
  header->bV5Planes = 1;
  header->bV5BitCount = bits;
  header->bV5Compression = BI_RGB;
  header->bV5SizeImage = row * height;
  if (format == CF_DIBV5) {
    header->bV5Compression = BI_BITFIELDS;
    header->bV5RedMask = 0xff0000;
    header->bV5GreenMask = 0xff00;
    header->bV5BlueMask = 0xff;
    header->bV5AlphaMask = 0xff000000;
    header->bV5CSType = 0x73524742; // sRGB
    header->bV5Intent = LCS_GM_IMAGES;
  }
  // Rows come from the bottom up.
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      DWORD color = y == height - 1 && x == 0 ? first : rest;
      memcpy(image + size + y * row + x * bits / 8, &color, bits / 8);
    }
  }
  beginCopy();
  offer(format, image, size + row * height);
  endCopy();
  free(image);
}

static void copyFiles(int count) {
  size_t length = 1;
  for (int i = 2; i < count; i++) length += wcslen(words[i]) + 1;
  DROPFILES *drop = calloc(1, sizeof *drop + length * sizeof(WCHAR));
  drop->pFiles = sizeof *drop;
  drop->fWide = TRUE;
  WCHAR *at = (WCHAR *)(drop + 1);
  for (int i = 2; i < count; i++) at += wcslen(wcscpy(at, words[i])) + 1;
  beginCopy();
  offer(CF_HDROP, drop, sizeof *drop + length * sizeof(WCHAR));
  endCopy();
  free(drop);
}

// A text with a mark that it is not for others.
static void copyConcealed(const WCHAR *mark, const WCHAR *text) {
  DWORD no = 0;
  beginCopy();
  offerText(text);
  offer(RegisterClipboardFormatW(mark), &no, sizeof no);
  endCopy();
}

static void pump(void) {
  MSG message;
  while (GetMessageW(&message, NULL, 0, 0) > 0) DispatchMessageW(&message);
}

// Offers a text that is made only when somebody asks for it.
static void renderLate(void) {
  beginCopy();
  SetClipboardData(CF_UNICODETEXT, NULL);
  endCopy();
  pump();
}

// In microseconds since 1970.
static long long now(void) {
  FILETIME time;
  GetSystemTimePreciseAsFileTime(&time);
  return (((long long)time.dwHighDateTime << 32) + time.dwLowDateTime) / 10 - 11644473600000000;
}

// A program that hears nothing meanwhile would hold up others that open the clipboard.
static void rest(int milliseconds) {
  MSG message;
  SetTimer(window, 1, milliseconds, NULL);
  while (GetMessageW(&message, NULL, 0, 0) > 0 && message.message != WM_TIMER) {
    DispatchMessageW(&message);
  }
  KillTimer(window, 1);
}

// As quickly as it can; or with a pause before each change, of which it says when it began.
static void change(int count, int milliseconds) {
  WCHAR text[32];
  for (int i = 1; i <= count; i++) {
    if (milliseconds > 0) {
      rest(milliseconds);
      say("begins %lld", now());
    }
    swprintf(text, 32, L"change %d", i);
    beginCopy();
    offerText(text);
    CloseClipboard();
  }
  say("copied %lu", GetClipboardSequenceNumber());
}

static const char *const NAMES[] = {
  [CF_TEXT] = "CF_TEXT",     [CF_BITMAP] = "CF_BITMAP",           [CF_DIB] = "CF_DIB",
  [CF_HDROP] = "CF_HDROP",   [CF_UNICODETEXT] = "CF_UNICODETEXT", [CF_DIBV5] = "CF_DIBV5",
  [CF_LOCALE] = "CF_LOCALE", [CF_OEMTEXT] = "CF_OEMTEXT",
};

static void sayFormat(UINT format) {
  WCHAR name[256];
  if (GetClipboardFormatNameW(format, name, 256) > 0) sayText("format", name);
  else if (format < sizeof NAMES / sizeof *NAMES && NAMES[format]) say("format %s", NAMES[format]);
  else say("format %u", format);
}

static void *paste(UINT format, size_t *size) {
  if (!IsClipboardFormatAvailable(format)) return NULL;
  HGLOBAL memory = GetClipboardData(format);
  if (memory == NULL) {
    say("refused %u", format);
    return NULL;
  }
  *size = GlobalSize(memory);
  return GlobalLock(memory);
}

// Header, and the first and the last pixel in memory, for images of 24 and 32 bits.
static void sayImage(const char *word, UINT format) {
  size_t size;
  BITMAPINFOHEADER *header = paste(format, &size);
  if (header == NULL) return;
  int masks = header->biSize == sizeof *header && header->biCompression == BI_BITFIELDS ? 12 : 0;
  BYTE *pixels = (BYTE *)header + header->biSize + masks;
  int bytes = header->biBitCount / 8, row = (header->biWidth * bytes + 3) & ~3;
  DWORD top = 0, bottom = 0;
  memcpy(&top, pixels + (abs(header->biHeight) - 1) * row, bytes);
  memcpy(&bottom, pixels + (header->biWidth - 1) * bytes, bytes);
  say("%s %lu %ldx%ld %u bits, compression %lu, %08lx to %08lx", word, header->biSize,
      header->biWidth, header->biHeight, header->biBitCount, header->biCompression, top, bottom);
}

static void showFiles(void) {
  HDROP drop = IsClipboardFormatAvailable(CF_HDROP) ? GetClipboardData(CF_HDROP) : NULL;
  UINT count = drop == NULL ? 0 : DragQueryFileW(drop, 0xffffffff, NULL, 0);
  for (UINT i = 0; i < count; i++) {
    WCHAR path[1024];
    DragQueryFileW(drop, i, path, 1024);
    sayText("file", path);
  }
}

// All that is there; PNG goes to a file.
static void show(const WCHAR *path) {
  size_t size;
  openClipboard();
  say("sequence %lu", GetClipboardSequenceNumber());
  for (UINT format = 0; (format = EnumClipboardFormats(format)) != 0;) sayFormat(format);
  WCHAR *text = paste(CF_UNICODETEXT, &size);
  if (text != NULL) sayText("text", text);
  void *png = paste(RegisterClipboardFormatW(L"PNG"), &size);
  if (png != NULL && path != NULL) {
    FILE *file = _wfopen(path, L"wb");
    if (file == NULL || fwrite(png, 1, size, file) != size || fclose(file) != 0) fail("write");
    say("png %zu", size);
  }
  sayImage("dib", CF_DIB);
  sayImage("dibv5", CF_DIBV5);
  showFiles();
  DWORD *effect = paste(RegisterClipboardFormatW(L"Preferred DropEffect"), &size);
  if (effect != NULL) say("effect %lu", *effect);
  CloseClipboard();
  say("shown");
}

static void hold(int milliseconds) {
  openClipboard();
  say("held");
  Sleep(milliseconds);
  CloseClipboard();
  say("released");
}

// Announces each change that another program makes; or ends when there was one since `known`.
static void wait(const WCHAR *known) {
  if (!AddClipboardFormatListener(window)) fail("AddClipboardFormatListener");
  say("waits %lu", GetClipboardSequenceNumber());
  MSG message;
  while (known == NULL || GetClipboardSequenceNumber() == wcstoul(known, NULL, 10)) {
    if (GetMessageW(&message, NULL, 0, 0) <= 0) return;
    DispatchMessageW(&message);
  }
}

static LRESULT CALLBACK hear(HWND target, UINT message, WPARAM first, LPARAM second) {
  if (message == WM_CLIPBOARDUPDATE) {
    if (GetClipboardOwner() != window) say("changed %lu", GetClipboardSequenceNumber());
    return 0;
  }
  if (message == WM_RENDERFORMAT) {
    say("asked %u", (UINT)first);
    if (manners == DIE) TerminateProcess(GetCurrentProcess(), 3);
    if (manners == HANG) Sleep(INFINITE);
    offerText(words[2]);
    return 0;
  }
  return DefWindowProcW(target, message, first, second);
}

int main(void) {
  int count;
  words = CommandLineToArgvW(GetCommandLineW(), &count);
  _setmode(1, _O_BINARY);
  if (count < 2) fail("nothing to do");
  WNDCLASSW kind = {.lpfnWndProc = hear, .lpszClassName = L"foreign"};
  RegisterClassW(&kind);
  window = CreateWindowW(L"foreign", NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL);
  const WCHAR *act = words[1], *more = count > 2 ? words[2] : NULL;
  if (wcscmp(act, L"copy-text") == 0 && more) beginCopy(), offerText(more), endCopy();
  else if (wcscmp(act, L"copy-png") == 0 && more) copyPng(more);
  else if (wcscmp(act, L"copy-dibv5") == 0 && count == 6) copyImage(CF_DIBV5, 32);
  else if (wcscmp(act, L"copy-dib") == 0 && count == 6) copyImage(CF_DIB, 24);
  else if (wcscmp(act, L"copy-dib32") == 0 && count == 6) copyImage(CF_DIB, 32);
  else if (wcscmp(act, L"copy-files") == 0 && more) copyFiles(count);
  else if (wcscmp(act, L"copy-concealed") == 0 && count == 4) copyConcealed(more, words[3]);
  else if (wcscmp(act, L"late-render") == 0 && more) manners = RENDER, renderLate();
  else if (wcscmp(act, L"late-render-die") == 0) manners = DIE, renderLate();
  else if (wcscmp(act, L"late-render-hang") == 0) manners = HANG, renderLate();
  else if (wcscmp(act, L"changes") == 0 && more) change(_wtoi(more), count > 3 ? _wtoi(words[3]) : 0);
  else if (wcscmp(act, L"hold") == 0 && more) hold(_wtoi(more));
  else if (wcscmp(act, L"show") == 0) show(more);
  else if (wcscmp(act, L"wait") == 0) wait(more);
  else fail("no such act");
  return 0;
}
