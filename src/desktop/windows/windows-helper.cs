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

        private readonly Stream output = Console.OpenStandardOutput();
        private readonly System.Windows.Forms.Timer again = new System.Windows.Forms.Timer();

        /// <summary>The last change that the daemon knows of.</summary>
        private uint announced;

        /// <summary>The daemon was told that the clipboard cannot be reached.</summary>
        private bool isTroubled;

        public static void Run()
        {
            // Not in a window that nobody sees: it ends this program, and another one is started.
            Application.SetUnhandledExceptionMode(UnhandledExceptionMode.ThrowException);
            SynchronizationContext window = new WindowsFormsSynchronizationContext();
            SynchronizationContext.SetSynchronizationContext(window);
            Helper helper = new Helper();
            Action<string> take = line => window.Post(_ => helper.Obey(line), null);
            Thread reader = new Thread(() => ReadLines(take));
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
                throw new InvalidOperationException("Windows does not tell of the clipboard");
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
            Stream lines = Console.OpenStandardInput();
            using (StreamReader input = new StreamReader(lines, new UTF8Encoding(false)))
            {
                string line;
                while ((line = input.ReadLine()) != null) take(line);
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
                string message = Json.Format(busy.Message);
                if (!isTroubled) Tell("\"event\":\"trouble\",\"message\":" + message);
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
                default: throw new InvalidOperationException("The helper does not know this");
            }
        }

        private string Look()
        {
            // Should that fail it is announced as soon as it works.
            announced = 0;
            using (OpenClipboard clipboard = new OpenClipboard(Handle))
            {
                List<string> names = clipboard.FormatNames();
                List<string> denied = Contents.Denied(clipboard, names);
                announced = Native.GetClipboardSequenceNumber();
                return "\"change\":" + announced
                    + ",\"types\":" + Json.Format(names)
                    + ",\"denied\":" + Json.Format(denied);
            }
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
                    long maxBytes = request.Number("maxBytes");
                    bytes = Contents.Read(clipboard, request.Text("type"), maxBytes);
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

        private string Write(Request request)
        {
            byte[] bytes = File.ReadAllBytes(request.Text("file"));
            Dictionary<string, byte[]> offered =
                Contents.Offered(request.Text("kind"), request.Text("type"), bytes);
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

        private string Release(Request request)
        {
            using (OpenClipboard clipboard = new OpenClipboard(Handle))
            {
                uint change = Native.GetClipboardSequenceNumber();
                bool isKnown = IsOurs() || change == request.Number("change");
                if (!isKnown) return Outcome("overtaken", change);
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
