// What is on the clipboard as bytes that travel, and back: UTF-8, PNG, and lists of paths as JSON.

using System;
using System.Drawing;
using System.Drawing.Imaging;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

namespace Clipgate
{
    /// <summary>What was copied is longer than was asked for.</summary>
    internal sealed class TooLongException : Exception
    {
        public readonly long Bytes;

        public TooLongException(long bytes)
        {
            Bytes = bytes;
        }
    }

    internal static class Formats
    {
        /// <summary>Unpacked each takes four bytes; a small file may announce any number.</summary>
        public const int MaxPixels = 64 * 1024 * 1024;

        private const int FileHeaderBytes = 14;
        private const int InfoHeaderBytes = 40;
        private const int Bitfields = 3;

        /// <summary>One each for red, green and blue.</summary>
        private const int MaskBytes = 12;

        public static byte[] Utf8OfText(string text, long maxBytes)
        {
            int end = text.IndexOf('\0');
            string whole = end == -1 ? text : text.Substring(0, end);
            return Bounded(new UTF8Encoding(false).GetBytes(whole), maxBytes);
        }

        /// <summary>CF_UNICODETEXT ends with a NUL.</summary>
        public static byte[] TextOfUtf8(byte[] utf8)
        {
            return Encoding.Unicode.GetBytes(new UTF8Encoding(false).GetString(utf8) + "\0");
        }

        public static byte[] Bounded(byte[] bytes, long maxBytes)
        {
            if (bytes.LongLength > maxBytes) throw new TooLongException(bytes.LongLength);
            return bytes;
        }

        /// <summary>A DIB is a BMP file without its first header.</summary>
        public static byte[] PngOfDib(byte[] dib, long maxBytes)
        {
            if (dib.Length < InfoHeaderBytes) return null;
            int width = BitConverter.ToInt32(dib, 4);
            int height = BitConverter.ToInt32(dib, 8);
            if (width <= 0 || height == 0) return null;
            if (Math.Abs((long)height) * width > MaxPixels) return null;
            byte[] bitmap = HasUsualMasks(dib) ? WithoutMasks(dib) : dib;
            byte[] file = new byte[FileHeaderBytes + bitmap.Length];
            file[0] = (byte)'B';
            file[1] = (byte)'M';
            Put(file, 2, file.Length);
            Put(file, 10, FileHeaderBytes + PixelsAt(bitmap));
            Buffer.BlockCopy(bitmap, 0, file, FileHeaderBytes, bitmap.Length);
            byte[] png = PngOf(file);
            return png == null ? null : Bounded(png, maxBytes);
        }

        /// <summary>Null when Windows does not know the format, or it is too big.</summary>
        public static byte[] PngOf(byte[] image)
        {
            return WithPicture(image, picture =>
            {
                using (MemoryStream png = new MemoryStream())
                {
                    picture.Save(png, ImageFormat.Png);
                    return png.ToArray();
                }
            });
        }

        /// <summary>32 bits, from the bottom up, on white: it knows no transparency.</summary>
        public static byte[] DibOf(byte[] image)
        {
            return WithPicture(image, picture =>
            {
                int width = picture.Width;
                int height = picture.Height;
                using (Bitmap flat = new Bitmap(width, height, PixelFormat.Format32bppRgb))
                {
                    using (Graphics graphics = Graphics.FromImage(flat))
                    {
                        graphics.Clear(Color.White);
                        graphics.DrawImage(picture, 0, 0, width, height);
                    }
                    return DibOf(flat);
                }
            });
        }

        private static byte[] DibOf(Bitmap flat)
        {
            int row = flat.Width * 4;
            byte[] dib = new byte[InfoHeaderBytes + row * flat.Height];
            Put(dib, 0, InfoHeaderBytes);
            Put(dib, 4, flat.Width);
            Put(dib, 8, flat.Height);
            dib[12] = 1;
            dib[14] = 32;
            Rectangle all = new Rectangle(0, 0, flat.Width, flat.Height);
            BitmapData pixels = flat.LockBits(all, ImageLockMode.ReadOnly, flat.PixelFormat);
            try
            {
                for (int y = 0; y < flat.Height; y += 1)
                {
                    IntPtr source = new IntPtr(pixels.Scan0.ToInt64() + (long)y * pixels.Stride);
                    int target = InfoHeaderBytes + (flat.Height - 1 - y) * row;
                    Marshal.Copy(source, dib, target, row);
                }
            }
            finally
            {
                flat.UnlockBits(pixels);
            }
            return dib;
        }

        /// <summary>A DROPFILES header, names that end with a NUL each, and one more.</summary>
        public static byte[] DropOf(string[] paths)
        {
            const int headerBytes = 20;
            byte[] names = Encoding.Unicode.GetBytes(string.Join("\0", paths) + "\0\0");
            byte[] drop = new byte[headerBytes + names.Length];
            Put(drop, 0, headerBytes);
            // The names are in Unicode.
            Put(drop, 16, 1);
            Buffer.BlockCopy(names, 0, drop, headerBytes, names.Length);
            return drop;
        }

        /// <summary>As in a screenshot: they say of 32 bits what holds without them.</summary>
        private static bool HasUsualMasks(byte[] dib)
        {
            return dib.Length >= InfoHeaderBytes + MaskBytes
                && BitConverter.ToInt32(dib, 0) == InfoHeaderBytes
                && BitConverter.ToInt16(dib, 14) == 32
                && BitConverter.ToInt32(dib, 16) == Bitfields
                && BitConverter.ToInt32(dib, 40) == 0xff0000
                && BitConverter.ToInt32(dib, 44) == 0xff00
                && BitConverter.ToInt32(dib, 48) == 0xff;
        }

        private static byte[] WithoutMasks(byte[] dib)
        {
            byte[] plain = new byte[dib.Length - MaskBytes];
            Buffer.BlockCopy(dib, 0, plain, 0, InfoHeaderBytes);
            Put(plain, 16, 0);
            int rest = plain.Length - InfoHeaderBytes;
            Buffer.BlockCopy(dib, dib.Length - rest, plain, InfoHeaderBytes, rest);
            return plain;
        }

        private static int PixelsAt(byte[] dib)
        {
            int header = BitConverter.ToInt32(dib, 0);
            int bits = BitConverter.ToInt16(dib, 14);
            int compression = BitConverter.ToInt32(dib, 16);
            int colours = BitConverter.ToInt32(dib, 32);
            if (colours == 0 && bits <= 8) colours = 1 << bits;
            // Later headers have them inside.
            int masks = header == InfoHeaderBytes && compression == Bitfields ? MaskBytes : 0;
            return header + masks + colours * 4;
        }

        private static byte[] WithPicture(byte[] image, Func<Image, byte[]> use)
        {
            try
            {
                using (Image picture = Image.FromStream(new MemoryStream(image), false, false))
                {
                    return (long)picture.Width * picture.Height > MaxPixels ? null : use(picture);
                }
            }
            // What GDI+ calls whatever is wrong with a picture; it says no more.
            catch (ArgumentException) { return null; }
            catch (ExternalException) { return null; }
            catch (OutOfMemoryException) { return null; }
        }

        private static void Put(byte[] bytes, int at, int value)
        {
            Buffer.BlockCopy(BitConverter.GetBytes(value), 0, bytes, at, 4);
        }
    }
}
