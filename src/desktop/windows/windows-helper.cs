// Listens to the clipboard, and does what the daemon asks for. Everything happens on the thread of
// the window, one thing after the other; only lines are read on another one.

using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Threading;
using System.Windows.Forms;

namespace Clipgate
{
    public sealed class Helper : NativeWindow
    {
        private const int ClipboardUpdate = 0x031d;
        private static readonly IntPtr MessageOnly = new IntPtr(-3);

        /// <summary>When another program holds the clipboard for long.</summary>
        private const int AnnounceAgainMs = 500;

        private const long MaxPixelBytes = 4L * Formats.MaxPixels;

        /// <summary>A number beside the copy that says 0 for no. Windows' own names.</summary>
        private static readonly string[] Permissions = { "CanIncludeInClipboardHistory", "CanUploadToCloudClipboard" };

        private readonly Stream output = Console.OpenStandardOutput();
        private readonly System.Windows.Forms.Timer again = new System.Windows.Forms.Timer();

        /// <summary>The last change that the daemon knows of.</summary>
        private uint announced;

        /// <summary>The daemon was told that the clipboard cannot be reached.</summary>
        private bool isTroubled;

        public static void Run()
        {
            // Not in a window that nobody sees: it ends this program, and the daemon starts another.
            Application.SetUnhandledExceptionMode(UnhandledExceptionMode.ThrowException);
            SynchronizationContext.SetSynchronizationContext(new WindowsFormsSynchronizationContext());
            Helper helper = new Helper();
            SynchronizationContext window = SynchronizationContext.Current;
            Thread reader = new Thread(() => ReadLines(line => window.Post(_ => helper.Obey(line), null)));
            reader.IsBackground = true;
            reader.Start();
            Application.Run();
        }

        private Helper()
        {
            CreateHandle(new CreateParams { Caption = "clipgate", Parent = MessageOnly });
            again.Interval = AnnounceAgainMs;
            again.Tick += (sender, happening) => Announce();
            if (!Native.AddClipboardFormatListener(Handle))
            {
                throw new InvalidOperationException("Windows does not tell this program about the clipboard");
            }
            announced = Native.GetClipboardSequenceNumber();
            Tell("\"event\":\"ready\"");
        }

        protected override void WndProc(ref Message message)
        {
            if (message.Msg == ClipboardUpdate) Announce();
            else base.WndProc(ref message);
        }

        private static void ReadLines(Action<string> take)
        {
            using (StreamReader input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false)))
            {
                for (string line = input.ReadLine(); line != null; line = input.ReadLine()) take(line);
            }
            // The daemon is gone, and the thread of the window may be waiting for another program.
            Environment.Exit(0);
        }

        private void Announce()
        {
            again.Stop();
            uint change = Native.GetClipboardSequenceNumber();
            if (change == announced) return;
            if (IsOurs())
            {
                announced = change;
                return;
            }
            try
            {
                string state = Look();
                if (isTroubled) Tell("\"event\":\"trouble\"");
                isTroubled = false;
                Tell("\"event\":\"changed\"," + state);
            }
            catch (BusyException busy)
            {
                if (!isTroubled) Tell("\"event\":\"trouble\",\"message\":" + Json.Format(busy.Message));
                isTroubled = true;
                again.Start();
            }
        }

        private void Obey(string line)
        {
            Request request = new Request(line);
            string reply = "\"reply\":" + request.Id + ",";
            try
            {
                Tell(reply + Answer(request));
            }
            catch (Exception failure)
            {
                Tell(reply + "\"error\":" + Json.Format(failure.Message));
            }
            // An answer may have been that there is something newer.
            Announce();
        }

        private string Answer(Request request)
        {
            switch (request.Text("do"))
            {
                case "look": return Look();
                case "read": return Read(request);
                case "write": return Write(request);
                case "release": return Release(request);
                default: throw new InvalidOperationException("The helper was asked for something unknown");
            }
        }

        private string Look()
        {
            // Should that fail it is announced as soon as it works.
            announced = 0;
            using (OpenClipboard clipboard = new OpenClipboard(Handle))
            {
                List<string> names = clipboard.FormatNames();
                List<string> denied = new List<string>();
                foreach (string permission in Permissions)
                {
                    if (names.Contains(permission) && !IsGiven(clipboard, permission)) denied.Add(permission);
                }
                announced = Native.GetClipboardSequenceNumber();
                return "\"change\":" + announced + ",\"types\":" + Json.Format(names) + ",\"denied\":" + Json.Format(denied);
            }
        }

        /// <summary>One that cannot be read is not given.</summary>
        private static bool IsGiven(OpenClipboard clipboard, string permission)
        {
            byte[] value = clipboard.Read(OpenClipboard.FormatOf(permission), 1024);
            return value != null && value.Length >= 4 && BitConverter.ToInt32(value, 0) != 0;
        }

        private string Read(Request request)
        {
            byte[] bytes;
            uint change;
            using (OpenClipboard clipboard = new OpenClipboard(Handle))
            {
                change = Native.GetClipboardSequenceNumber();
                if (change != request.Number("change")) return Outcome("overtaken", change);
                try
                {
                    bytes = BytesOf(clipboard, request.Text("type"), request.Number("maxBytes"));
                }
                catch (TooLongException tooLong)
                {
                    return Outcome("tooLong", change) + ",\"bytes\":" + tooLong.Bytes;
                }
                finally
                {
                    // A format that is made only now counts as a change, although nobody copied.
                    announced = change = Native.GetClipboardSequenceNumber();
                }
            }
            if (bytes == null) return Outcome("absent", change);
            Save(bytes, request.Text("file"));
            return Outcome("read", change) + ",\"bytes\":" + bytes.Length;
        }

        private static byte[] BytesOf(OpenClipboard clipboard, string type, long maxBytes)
        {
            switch (type)
            {
                case "CF_UNICODETEXT":
                    // A character of 16 bits has at least one byte in UTF-8; buffers may be longer.
                    byte[] text = clipboard.Read(OpenClipboard.UnicodeText, 4 * maxBytes);
                    return text == null ? null : Formats.Utf8OfText(Encoding.Unicode.GetString(text), maxBytes);
                case "CF_HDROP":
                    string[] paths = clipboard.ReadPaths(maxBytes);
                    return paths == null ? null : Formats.Bounded(Encoding.UTF8.GetBytes(Json.Format(paths)), maxBytes);
                case "CF_DIB":
                    byte[] dib = clipboard.Read(OpenClipboard.Dib, MaxPixelBytes);
                    return dib == null ? null : Formats.PngOfDib(dib, maxBytes);
                default:
                    return clipboard.Read(OpenClipboard.FormatOf(type), maxBytes);
            }
        }

        private string Write(Request request)
        {
            Dictionary<string, byte[]> offered = Offered(request, File.ReadAllBytes(request.Text("file")));
            using (OpenClipboard clipboard = new OpenClipboard(Handle))
            {
                clipboard.Empty();
                foreach (KeyValuePair<string, byte[]> format in offered)
                {
                    clipboard.Write(OpenClipboard.FormatOf(format.Key), format.Value);
                }
            }
            // In this order: whoever still owns it then owned it when it was counted.
            uint change = Native.GetClipboardSequenceNumber();
            if (!IsOurs()) return Outcome("overtaken", change);
            announced = change;
            return Outcome("written", change);
        }

        /// <summary>Made before the clipboard is emptied; the best first.</summary>
        private static Dictionary<string, byte[]> Offered(Request request, byte[] bytes)
        {
            Dictionary<string, byte[]> offered = new Dictionary<string, byte[]>();
            switch (request.Text("kind"))
            {
                case "text":
                    offered["CF_UNICODETEXT"] = Formats.TextOfUtf8(bytes);
                    break;
                case "files":
                    offered["CF_HDROP"] = Formats.DropOf(Json.ParseStrings(bytes));
                    // To copy, not to move.
                    offered["Preferred DropEffect"] = BitConverter.GetBytes(1);
                    break;
                default:
                    offered[request.Text("type")] = bytes;
                    // Many programs paste PNG or bitmaps only.
                    byte[] png = request.Text("type") == "PNG" ? null : Formats.PngOf(bytes);
                    if (png != null) offered["PNG"] = png;
                    byte[] dib = Formats.DibOf(bytes);
                    if (dib != null) offered["CF_DIB"] = dib;
                    break;
            }
            return offered;
        }

        private string Release(Request request)
        {
            using (OpenClipboard clipboard = new OpenClipboard(Handle))
            {
                uint change = Native.GetClipboardSequenceNumber();
                if (!IsOurs() && change != request.Number("change")) return Outcome("overtaken", change);
                clipboard.Empty();
                announced = Native.GetClipboardSequenceNumber();
                return Outcome("released", announced);
            }
        }

        private bool IsOurs()
        {
            return Native.GetClipboardOwner() == Handle;
        }

        private static string Outcome(string outcome, uint change)
        {
            return "\"outcome\":\"" + outcome + "\",\"change\":" + change;
        }

        /// <summary>Into the file that the daemon made, with its permissions.</summary>
        private static void Save(byte[] bytes, string path)
        {
            using (FileStream file = new FileStream(path, FileMode.Truncate, FileAccess.Write))
            {
                file.Write(bytes, 0, bytes.Length);
            }
        }

        private void Tell(string members)
        {
            byte[] line = new UTF8Encoding(false).GetBytes("{" + members + "}\n");
            output.Write(line, 0, line.Length);
            output.Flush();
        }
    }
}
