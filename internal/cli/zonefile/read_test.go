package zonefile

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// read reads a file, with others beside it, and returns the records, a line each.
func read(t testing.TB, origin, text string, others fstest.MapFS) (records []string, losses []content.Loss, err error) {
	t.Helper()
	name, parseErr := dnsname.Parse(origin)
	if parseErr != nil {
		t.Fatal(parseErr)
	}
	z := content.New(name, func(l content.Loss) { losses = append(losses, l) })
	z.Max = 200_000
	opts := Options{Name: "db"}
	if others != nil {
		opts.Folder = others
	}
	if err = Read(strings.NewReader(text), z, opts); err != nil {
		return nil, losses, err
	}
	z.Sort()
	for sets := range z.Names() {
		for _, s := range sets {
			for _, data := range s.Data {
				records = append(records, fmt.Sprintf("%s %d %s %s", s.Name.In(name), s.TTL, s.Type, data))
			}
		}
	}
	return records, losses, nil
}

// TestTheTTLThatARecordHas reads files whose records state none.
func TestTheTTLThatARecordHas(t *testing.T) {
	const soa = "@ SOA ns hm 1 7200 900 1209600 300\n"
	for _, c := range []struct{ name, text, want string }{
		{"that of $TTL", "$TTL 1h\n" + soa + "a A 192.0.2.1", "a 3600 A 192.0.2.1"},
		{"the minimum of the SOA", soa + "a A 192.0.2.1", "a 300 A 192.0.2.1"},
		{"the last one stated", soa + "b 60 A 192.0.2.1\na A 192.0.2.1", "a 60 A 192.0.2.1 b 60 A 192.0.2.1"},
		{"$TTL, also where another was stated", "$TTL 7\nb 60 A 192.0.2.1\na A 192.0.2.1",
			"a 7 A 192.0.2.1 b 60 A 192.0.2.1"},
		{"$TTL for what $GENERATE makes", "$TTL 7\n$GENERATE 1-2 h$ A 192.0.2.$", "h1 7 A 192.0.2.1 h2 7 A 192.0.2.2"},
		{"the minimum for what $GENERATE makes", soa + "$GENERATE 1-1 h$ IN A 192.0.2.$", "h1 300 A 192.0.2.1"},
		{"that of $GENERATE itself", "$TTL 7\n$GENERATE 1-1 h$ 60 A 192.0.2.$", "h1 60 A 192.0.2.1"},
		{"that of $GENERATE after its class", "$TTL 7\n$GENERATE 1-1 h$ IN 60 A 192.0.2.$", "h1 60 A 192.0.2.1"},
		{"$TTL of the file that includes", "$TTL 7\n$INCLUDE i\na A 192.0.2.1",
			"a 7 A 192.0.2.1 h1 7 A 192.0.2.1 i 7 A 192.0.2.9"},
		{"$TTL of the file that is included", "$TTL 7\n$INCLUDE j\n$GENERATE 1-1 a$ A 192.0.2.$\nb A 192.0.2.1",
			"a1 5 A 192.0.2.1 b 5 A 192.0.2.1 h1 5 A 192.0.2.1"},
		{"the last one stated in the file that is included", soa + "$INCLUDE k\na A 192.0.2.1",
			"a 99 A 192.0.2.1 k 99 A 192.0.2.1"},
		{"the last one stated for what $GENERATE makes", soa + "b 60 A 192.0.2.1\n$GENERATE 1-1 h$ A 192.0.2.$",
			"b 60 A 192.0.2.1 h1 60 A 192.0.2.1"},
		{"that of $GENERATE for what follows", soa + "$GENERATE 1-1 h$ 77 A 192.0.2.$\na A 192.0.2.1",
			"a 77 A 192.0.2.1 h1 77 A 192.0.2.1"},
		{"$TTL with units and a comment", "$TTL 1h30m;long\na A 192.0.2.1", "a 5400 A 192.0.2.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			records, losses, err := read(t, "example.org.", c.text+"\n", fstest.MapFS{
				"i": {Data: []byte("$GENERATE 1-1 h$ A 192.0.2.$\ni A 192.0.2.9\n")},
				"j": {Data: []byte("$TTL 5\n$GENERATE 1-1 h$ A 192.0.2.$\n")},
				"k": {Data: []byte("k 99 A 192.0.2.1\n")}})
			if got := strings.Join(records, " "); err != nil || got != c.want || losses != nil {
				t.Errorf("%v, %v: %s", err, losses, got)
			}
		})
	}
}

// TestHostileFilesAreRefused reads files that want more than they may.
func TestHostileFilesAreRefused(t *testing.T) {
	many := fstest.MapFS{"many": {Data: []byte(strings.Repeat("$INCLUDE empty\n", 600))}, "empty": {Data: []byte("\n")},
		"bomb": {Data: []byte(strings.Repeat("$INCLUDE bomb\n", 600))}, "dir/file": {Data: []byte("a 1 A 192.0.2.1\n")}}
	for _, c := range []struct{ name, text, says string }{
		{"a line without an end", "a TXT " + strings.Repeat("x", MaxLine), "db: line 1 is longer than 512 KiB"},
		{"a comment without an end", ";" + strings.Repeat("x", MaxLine), "db: line 1 is longer than 512 KiB"},
		{"a file of comments", strings.Repeat("; nothing\n", 2_000_000), "16 MiB contain no record"},
		{"a record without an end", "a 1 TXT (\n" + strings.Repeat("x\n", 9_000_000), "16 MiB contain no record"},
		{"too many records", strings.Repeat("$GENERATE 1-65535 h$ 1 A 192.0.2.1\n", 4), "more than 200000 records"},
		{"too many inclusions", "$INCLUDE many\n$INCLUDE many\n", "it includes more than 1000 files"},
		{"inclusions that multiply", "$INCLUDE bomb\n", "more than seven deep"},
		{"a file above the folder", "$INCLUDE ../secret\n", "only files of the folder of the first file"},
		{"a file above the folder of a file below", "$INCLUDE dir/../../secret\n",
			"only files of the folder of the first file"},
		{"a folder", "$INCLUDE dir\n", "not a regular file"},
		{"a range that is too long", "$GENERATE 1-99999999 h$ 1 A 192.0.2.1\n",
			"db: line 1: $GENERATE: 1-99999999 makes more than 65536 records"},
		{"a $GENERATE that makes others", "$GENERATE 1-2 $$GENERATE 1 A 192.0.2.1\n$GENERATE\n", ""},
		{"zeros", strings.Repeat("\x00", 100), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			records, _, err := read(t, "example.org.", c.text, many)
			if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
				t.Errorf("%d records, and the error is %.300v", len(records), err)
			}
		})
	}
}

// TestWhereAFileIsWrong reads files with a mistake, and is told its line.
func TestWhereAFileIsWrong(t *testing.T) {
	const form = `does not begin with ${OFFSET,WIDTH,BASE}, in which BASE is d, o, x, X, n or N`
	for _, c := range []struct{ name, text, says string }{
		{"a record after a $GENERATE", "$TTL 7\n$GENERATE 1-9 h$ A 192.0.2.$\nb A nonsense\n", "at line: 3:"},
		{"a record of a $GENERATE", "$TTL 7\n\n$GENERATE 250-300 h$ A 192.0.2.$\nb A 192.0.2.1\n", "at line: 3:"},
		{"a record after one over several lines", "$TTL 7\n\"a\" LOC (\n42 N\n71 W 1m )\nb A nonsense\n", "at line: 5:"},
		{"a record after an IPSECKEY", "$TTL 7\na IPSECKEY 10 0 2 . AQN=\n\nb A nonsense\n", "at line: 4:"},
		{"a record of a file that is included", "$TTL 7\n$GENERATE 1-9 h$ A 192.0.2.$\n$INCLUDE i\n", "at line: 4:"},
		{"a parenthesis that is not closed", "$TTL 7\na TXT ( b\nc\n",
			"db: line 2: the parentheses or quotes that begin here do not match; correct the file"},
		{"a parenthesis that is closed twice", "$TTL 7\na TXT ( b ) )\n", "db: line 2: the parentheses or quotes"},
		{"a $GENERATE without data", "\n$GENERATE 1-9 h$ A\n",
			"db: line 2: $GENERATE: it needs a range, a name, a type and data, such as 1-127 host-$ A 192.0.2.$"},
		{"a $GENERATE of a name in quotes", "$GENERATE 1-9 \"h$\" A 192.0.2.$\n", "db: line 1: $GENERATE: it needs a range"},
		{"a $GENERATE whose data opens a parenthesis", "$GENERATE 1-9 h$ TXT \"( a\"\n",
			"its data has a parenthesis or a quote that is not closed"},
		{"a range of one number", "$GENERATE 1 h$ A 192.0.2.$\n", `"1" is not a range such as 1-127 or 0-254/2`},
		{"a range that goes down", "$GENERATE 2-1 h$ A 192.0.2.$\n", "2-1 is not a range of numbers up to 2147483647"},
		{"a step of 0", "$GENERATE 1-2/0 h$ A 192.0.2.$\n", "1-2/0 is not a range of numbers up to 2147483647"},
		{"a base that nobody has", "$GENERATE 1-2 h${0,1,q} A 192.0.2.$\n", form},
		{"a number below 0", "$GENERATE 1-2 h${-2} A 192.0.2.$\n",
			"${-2} makes -1 of 1, which is not from 0 to 2147483647"},
		{"a number that is too high", "$GENERATE 1-2 h A 192.0.2.${2147483647}\n", "makes 2147483648 of 1, which is not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			others := fstest.MapFS{"i": {Data: []byte("$GENERATE 1-2 h$ A 192.0.2.$\n\n\nb A nonsense\n")}}
			if _, _, err := read(t, "example.org.", c.text, others); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestATTLThatIsTooHighIsTold reads TTLs above the highest (RFC 2181 §8), among them the one that stands for none.
func TestATTLThatIsTooHighIsTold(t *testing.T) {
	for _, c := range []struct{ name, text, ttl string }{
		{"one more than the highest", "a 2147483648 A 192.0.2.1", "2147483648"},
		{"the highest of 32 bits", "a 4294967295 A 192.0.2.1", "4294967295"},
		{"after the class", "a IN 4294967295 A 192.0.2.1", "4294967295"},
		{"in parentheses", "a (\n4294967295\nIN A 192.0.2.1 )", "4294967295"},
		{"without an owner", "$ORIGIN a.example.org.\n@ TXT b\n 4294967295 A 192.0.2.1", "4294967295"},
		{"of a $GENERATE", "$GENERATE 1-1 a 4294967295 A 192.0.2.1", "4294967295"},
		{"of a file that is included", "$INCLUDE i", "4294967295"},
		{"of $TTL", "$TTL 4294967295\na A 192.0.2.1", "4294967295"},
	} {
		t.Run(c.name, func(t *testing.T) {
			others := fstest.MapFS{"i": {Data: []byte("a 4294967295 A 192.0.2.1")}}
			records, losses, err := read(t, "example.org.", "$TTL 300\n"+c.text+"\n", others)
			if err != nil || len(losses) != 1 || !strings.HasPrefix(losses[0].Why, "its TTL is "+c.ttl+";") ||
				records[0] != "a 2147483647 A 192.0.2.1" {
				t.Errorf("%v, %v: %s", err, losses, records)
			}
		})
	}
}

// TestTheParserOfTheLibraryReadsWhatIsMeant reads data that it gets wrong where it is not helped.
func TestTheParserOfTheLibraryReadsWhatIsMeant(t *testing.T) {
	const text = `$TTL 300
a IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==
b IPSECKEY ( 10 1 2
  192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ== )
c CAA 0 issue "a\"b;c\\d"
d URI 1 2 "ftp://a\"b"
e CAA 0 issue \# ; a value, not the form of RFC 3597
f TXT a\;b "c  d" \065
g TXT (
$TTL 5
$GENERATE )
h L64 10 2001:db8:1140:1000
h NID 10 14:4fff:ff20:e
i HTTPS 1 . ( alpn=h2 ; dohpath and ohttp by their numbers
  key7="/q{?dns}" key8 )
i SVCB 1 svc alpn=h2
j DS 60485 RSASHA1 SHA-1 2BB183AF5F22588179A53B0A 98631FAD1A292118
k KEY 256 dnssec 5 AQPSKmynfzW4kyBv015MUG2DeIQ3
`
	want := []string{
		"a 300 IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==",
		"b 300 IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==",
		`c 300 CAA 0 issue "a\"b;c\\d"`, `d 300 URI 1 2 "ftp://a\"b"`, `e 300 CAA 0 issue "#"`, `f 300 TXT "a;b" "c  d" "A"`,
		`g 300 TXT "$TTL" "5" "$GENERATE"`, `h 300 TYPE104 \# 10 000A00144FFFFF20000E`,
		`h 300 TYPE106 \# 10 000A20010DB811401000`, `i 300 SVCB 1 svc.example.org. alpn="h2"`,
		`i 300 HTTPS 1 . alpn="h2" key7="/q{?dns}" key8`, "j 300 DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
		"k 300 KEY 256 3 5 AQPSKmynfzW4kyBv015MUG2DeIQ3",
	}
	records, losses, err := read(t, "example.org.", text, nil)
	if err != nil || losses != nil || strings.Join(records, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v, %v:\n%s", err, losses, strings.Join(records, "\n"))
	}
}

// FuzzRead gives the reader any text: it does not panic, and what it reads is canonical data of names in the zone.
func FuzzRead(f *testing.F) {
	f.Add("$TTL 1h\n@ SOA ns hm 1 2 3 4 5\n a 1 IN A 192.0.2.1\n$GENERATE 1-3/2 h${0,3,x} 5 A 192.0.2.$ ; c\n")
	f.Add("$INCLUDE i sub\n$ORIGIN x.\na CH TXT (\"a\nb\" ; c\n )\n")
	f.Add("$GENERATE 1-2 $$${0,4,n} TXT \"\\\"a $\\\" b\"\n\"a b\" LOC ( 1 N\n1 W 1m )\n$INCLUDE \"i\"\na L64 1 1:2:3:4\n")
	f.Add("a IPSECKEY 10 1 2 192.0.2.38 AQN=\nb CAA 0 issue \"\\\"\\300\"\nc TYPE99 \\# 1 00\n")
	f.Fuzz(func(t *testing.T, text string) {
		name, err := dnsname.Parse("example.org.")
		if err != nil {
			t.Fatal(err)
		}
		z := content.New(name, func(content.Loss) {})
		z.Max = 1000
		files := fstest.MapFS{"i": {Data: []byte("$TTL 3\nx A 192.0.2.1\n$INCLUDE i\n")}}
		_ = Read(strings.NewReader(text), z, Options{Name: "db", Folder: files})
		z.Sort()
		for sets := range z.Names() {
			for _, s := range sets {
				for _, data := range s.Data {
					again, err := rr.ParseData(s.Type, data)
					if err != nil || again != data || !s.Name.Under(name) {
						t.Errorf("%s %s: %v: %s", s.Key(), data, err, again)
					}
				}
			}
		}
	})
}
