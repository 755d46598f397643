// The lines between the daemon and this program: JSON, with what .NET has had since 4.0.

using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;

namespace Clipgate
{
    /// <summary>What the daemon asks for.</summary>
    internal sealed class Request
    {
        private readonly XElement members;

        public Request(string line)
        {
            members = Json.Parse(Encoding.UTF8.GetBytes(line));
        }

        public long Id { get { return Number("id"); } }

        public string Text(string name)
        {
            XElement member = members.Element(name);
            return member == null ? "" : member.Value;
        }

        public long Number(string name)
        {
            return long.Parse(Text(name), NumberStyles.None, CultureInfo.InvariantCulture);
        }
    }

    internal static class Json
    {
        public static XElement Parse(byte[] json)
        {
            XmlDictionaryReaderQuotas quotas = XmlDictionaryReaderQuotas.Max;
            using (XmlReader reader = JsonReaderWriterFactory.CreateJsonReader(json, quotas))
            {
                return XElement.Load(reader);
            }
        }

        public static string[] ParseStrings(byte[] json)
        {
            return Parse(json).Elements().Select(element => element.Value).ToArray();
        }

        public static string Format(string text)
        {
            StringBuilder json = new StringBuilder("\"");
            foreach (char unit in text)
            {
                // All but printable ASCII: no encoding can get it wrong, and no line is cut.
                bool isPlain = unit >= ' ' && unit <= '~' && unit != '"' && unit != '\\';
                if (isPlain) json.Append(unit);
                else json.AppendFormat(CultureInfo.InvariantCulture, "\\u{0:x4}", (int)unit);
            }
            return json.Append('"').ToString();
        }

        public static string Format(IEnumerable<string> texts)
        {
            return "[" + string.Join(",", texts.Select(text => Format(text)).ToArray()) + "]";
        }
    }
}
