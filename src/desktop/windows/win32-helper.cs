// The clipboard as Windows has it: open, or in the hands of another program.

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Clipgate
{
    /// <summary>Held by another program for too long.</summary>
    internal sealed class BusyException : Exception
    {
        public BusyException() : base("Another program holds the clipboard") { }
    }

    /// <summary>The open clipboard: nobody else changes it until it is disposed of.</summary>
    internal sealed class OpenClipboard : IDisposable
    {
        public const uint Dib = 8;
        public const uint UnicodeText = 13;
        public const uint FileDrop = 15;

        private const uint Movable = 2;
        private const uint AllFiles = 0xffffffff;
        private const int LongestName = 256;

        /// <summary>Others hold it for milliseconds; together 1.3 s.</summary>
        private static readonly int[] PausesMs = { 5, 10, 20, 40, 80, 160, 320, 640 };

        private static readonly Dictionary<uint, string> Names = new Dictionary<uint, string>
        {
            { Dib, "CF_DIB" }, { UnicodeText, "CF_UNICODETEXT" }, { FileDrop, "CF_HDROP" },
        };

        /// <exception cref="BusyException"></exception>
        public OpenClipboard(IntPtr window)
        {
            foreach (int pause in PausesMs)
            {
                if (Native.OpenClipboard(window)) return;
                Thread.Sleep(pause);
            }
            throw new BusyException();
        }

        public void Dispose()
        {
            Native.CloseClipboard();
        }

        /// <summary>Those first that the owner prefers.</summary>
        public List<string> FormatNames()
        {
            List<string> names = new List<string>();
            uint format = 0;
            while ((format = Native.EnumClipboardFormats(format)) != 0) names.Add(NameOf(format));
            return names;
        }

        /// <summary>Null when there is none.</summary>
        public byte[] Read(uint format, long maxBytes)
        {
            IntPtr handle = Native.GetClipboardData(format);
            if (handle == IntPtr.Zero) return null;
            long size = (long)Native.GlobalSize(handle).ToUInt64();
            if (size > maxBytes) throw new TooLongException(size);
            IntPtr memory = Native.GlobalLock(handle);
            if (memory == IntPtr.Zero) return null;
            try
            {
                byte[] bytes = new byte[size];
                Marshal.Copy(memory, bytes, 0, bytes.Length);
                return bytes;
            }
            finally
            {
                Native.GlobalUnlock(handle);
            }
        }

        /// <summary>Null when there are none.</summary>
        public string[] ReadPaths(long maxBytes)
        {
            IntPtr drop = Native.GetClipboardData(FileDrop);
            if (drop == IntPtr.Zero) return null;
            uint count = Native.DragQueryFile(drop, AllFiles, null, 0);
            List<string> paths = new List<string>();
            long size = 0;
            for (uint index = 0; index < count; index += 1)
            {
                uint length = Native.DragQueryFile(drop, index, null, 0);
                size += length;
                if (size > maxBytes) throw new TooLongException(size);
                StringBuilder path = new StringBuilder((int)length + 1);
                Native.DragQueryFile(drop, index, path, length + 1);
                paths.Add(path.ToString());
            }
            return paths.ToArray();
        }

        public void Empty()
        {
            if (Native.EmptyClipboard()) return;
            throw new InvalidOperationException("Windows does not empty the clipboard");
        }

        public void Write(uint format, byte[] bytes)
        {
            IntPtr handle = Native.GlobalAlloc(Movable, new UIntPtr((ulong)bytes.LongLength));
            IntPtr memory = handle == IntPtr.Zero ? handle : Native.GlobalLock(handle);
            if (memory == IntPtr.Zero)
            {
                Native.GlobalFree(handle);
                throw new OutOfMemoryException("There is not enough memory for what is offered");
            }
            Marshal.Copy(bytes, 0, memory, bytes.Length);
            Native.GlobalUnlock(handle);
            // From here on it belongs to Windows, unless that fails.
            if (Native.SetClipboardData(format, handle) != IntPtr.Zero) return;
            Native.GlobalFree(handle);
            throw new InvalidOperationException("Windows does not take what is offered");
        }

        public static uint FormatOf(string name)
        {
            foreach (KeyValuePair<uint, string> known in Names)
            {
                if (known.Value == name) return known.Key;
            }
            return Native.RegisterClipboardFormat(name);
        }

        private static string NameOf(uint format)
        {
            string name;
            if (Names.TryGetValue(format, out name)) return name;
            StringBuilder registered = new StringBuilder(LongestName);
            int length = Native.GetClipboardFormatName(format, registered, LongestName);
            return length > 0 ? registered.ToString() : "CF_" + format;
        }
    }

    internal static class Native
    {
        [DllImport("user32.dll", SetLastError = true)]
        [return: MarshalAs(UnmanagedType.Bool)]
        public static extern bool OpenClipboard(IntPtr window);

        [DllImport("user32.dll", SetLastError = true)]
        [return: MarshalAs(UnmanagedType.Bool)]
        public static extern bool CloseClipboard();

        [DllImport("user32.dll", SetLastError = true)]
        [return: MarshalAs(UnmanagedType.Bool)]
        public static extern bool EmptyClipboard();

        [DllImport("user32.dll", SetLastError = true)]
        public static extern uint EnumClipboardFormats(uint format);

        [DllImport("user32.dll", SetLastError = true)]
        public static extern IntPtr GetClipboardData(uint format);

        [DllImport("user32.dll", SetLastError = true)]
        public static extern IntPtr SetClipboardData(uint format, IntPtr handle);

        [DllImport("user32.dll", SetLastError = true)]
        public static extern IntPtr GetClipboardOwner();

        [DllImport("user32.dll")]
        public static extern uint GetClipboardSequenceNumber();

        [DllImport("user32.dll", CharSet = CharSet.Unicode, EntryPoint = "GetClipboardFormatNameW")]
        public static extern int GetClipboardFormatName(uint id, StringBuilder to, int size);

        [DllImport("user32.dll", CharSet = CharSet.Unicode, EntryPoint = "RegisterClipboardFormatW")]
        public static extern uint RegisterClipboardFormat(string name);

        [DllImport("user32.dll", SetLastError = true)]
        [return: MarshalAs(UnmanagedType.Bool)]
        public static extern bool AddClipboardFormatListener(IntPtr window);

        [DllImport("kernel32.dll", SetLastError = true)]
        public static extern IntPtr GlobalAlloc(uint flags, UIntPtr bytes);

        [DllImport("kernel32.dll", SetLastError = true)]
        public static extern IntPtr GlobalFree(IntPtr handle);

        [DllImport("kernel32.dll", SetLastError = true)]
        public static extern IntPtr GlobalLock(IntPtr handle);

        [DllImport("kernel32.dll", SetLastError = true)]
        [return: MarshalAs(UnmanagedType.Bool)]
        public static extern bool GlobalUnlock(IntPtr handle);

        [DllImport("kernel32.dll", SetLastError = true)]
        public static extern UIntPtr GlobalSize(IntPtr handle);

        [DllImport("shell32.dll", CharSet = CharSet.Unicode, EntryPoint = "DragQueryFileW")]
        public static extern uint DragQueryFile(IntPtr drop, uint n, StringBuilder path, uint size);
    }
}
