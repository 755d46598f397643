// Which formats of the open clipboard hold what the daemon asks for, and offers.

using System;
using System.Collections.Generic;
using System.Text;

namespace Clipgate
{
    internal static class Contents
    {
        private const long MaxPixelBytes = 4L * Formats.MaxPixels;

        /// <summary>A number beside the copy that says 0 for no. Windows' own names.</summary>
        private static readonly string[] Permissions =
        {
            "CanIncludeInClipboardHistory", "CanUploadToCloudClipboard",
        };

        public static List<string> Denied(OpenClipboard clipboard, List<string> names)
        {
            return names.FindAll(name =>
                Array.IndexOf(Permissions, name) != -1 && !IsGiven(clipboard, name));
        }

        /// <summary>Null when there is none, or none that can be understood.</summary>
        public static byte[] Read(OpenClipboard clipboard, string type, long maxBytes)
        {
            switch (type)
            {
                case "CF_UNICODETEXT":
                    // A character of 16 bits has at least one byte in UTF-8; buffers may be longer.
                    byte[] text = clipboard.Read(OpenClipboard.UnicodeText, 4 * maxBytes);
                    if (text == null) return null;
                    return Formats.Utf8OfText(Encoding.Unicode.GetString(text), maxBytes);
                case "CF_HDROP":
                    string[] paths = clipboard.ReadPaths(maxBytes);
                    if (paths == null) return null;
                    return Formats.Bounded(Encoding.UTF8.GetBytes(Json.Format(paths)), maxBytes);
                case "CF_DIB":
                    byte[] dib = clipboard.Read(OpenClipboard.Dib, MaxPixelBytes);
                    return dib == null ? null : Formats.PngOfDib(dib, maxBytes);
                default:
                    return clipboard.Read(OpenClipboard.FormatOf(type), maxBytes);
            }
        }

        /// <summary>Made before the clipboard is emptied; the best first.</summary>
        public static Dictionary<string, byte[]> Offered(string kind, string type, byte[] bytes)
        {
            Dictionary<string, byte[]> offered = new Dictionary<string, byte[]>();
            switch (kind)
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
                    offered[type] = bytes;
                    // Many programs paste PNG or bitmaps only.
                    byte[] png = type == "PNG" ? null : Formats.PngOf(bytes);
                    if (png != null) offered["PNG"] = png;
                    byte[] dib = Formats.DibOf(bytes);
                    if (dib != null) offered["CF_DIB"] = dib;
                    break;
            }
            return offered;
        }

        /// <summary>One that cannot be read is not given.</summary>
        private static bool IsGiven(OpenClipboard clipboard, string permission)
        {
            try
            {
                byte[] value = clipboard.Read(OpenClipboard.FormatOf(permission), 1024);
                return value != null && value.Length >= 4 && BitConverter.ToInt32(value, 0) != 0;
            }
            catch (TooLongException)
            {
                return false;
            }
        }
    }
}
