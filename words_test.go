package zonefold_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// maxWords is how many rows "The words" of ARCHITECTURE.md may have: as many as a newcomer may be asked to learn.
const maxWords = 25

// retiredWords had a standard word for what they meant, which has replaced them. Names of packages, of what they
// declare and of exported methods and fields do not use them any more.
var retiredWords = map[string]string{
	"bring":    "enqueue, deliver or attach",
	"desk":     "queue or worker",
	"doubt":    "suspect",
	"early":    "pending",
	"equip":    "update",
	"foretell": "forecast",
	"guest":    "assignment", "lodge": "assignment", "lodged": "assignment",
	"lodger": "assignment", "lodging": "assignment",
	"mistrust": "suspect",
	"presume":  "assume",
	"promise":  "stored",
	"recount":  "update",
	"regard":   "reset",
	"relent":   "retry",
	"retell":   "enqueue",
	"rush":     "backlog",
	"stir":     "update or enqueue",
	"strange":  "drift",
	"told":     "reported, notified or hasReason",
	"touched":  "input or dirty",
	"wonder":   "drift",
}

var (
	camelCase = regexp.MustCompile(`[A-Z]?[a-z0-9]+|[A-Z]+`)
	plainWord = regexp.MustCompile(`\pL+`)
	wordsRow  = regexp.MustCompile(`^\| ([^|]+) \| [^|]+ \|$`)
)

// TestWordsAreUsed holds the table of words in ARCHITECTURE.md against the code: it is short, and a reader meets each
// word in a name that is declared somewhere, or in the comment of a package.
func TestWordsAreUsed(t *testing.T) {
	met := map[string]bool{}
	for _, file := range goFiles(t) {
		if file.isTest || file.generated {
			continue
		}
		for _, w := range plainWord.FindAllString(strings.ToLower(file.syntax.Doc.Text()), -1) {
			met[w] = true
		}
		for name := range declared(file.syntax) {
			for _, w := range partsOf(name.Name) {
				met[w] = true
			}
		}
	}
	_, section, _ := strings.Cut(string(read(t, "ARCHITECTURE.md")), "\n## The words\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for line := range strings.Lines(section) {
		m := wordsRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || m[1] == "Word" {
			continue
		}
		rows++
		for _, word := range strings.Split(m[1], ", ") {
			if !met[strings.ToLower(word)] {
				t.Errorf("ARCHITECTURE.md explains %q, which no name and no package comment has", word)
			}
		}
	}
	if rows == 0 || rows > maxWords {
		t.Errorf("ARCHITECTURE.md explains words in %d rows; want at most %d, and some", rows, maxWords)
	}
}

// TestRetiredWordsStayAway keeps words from coming back that others have replaced.
func TestRetiredWordsStayAway(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.isTest || file.generated {
			continue
		}
		for name, outside := range declared(file.syntax) {
			if !outside {
				continue
			}
			for _, w := range partsOf(name.Name) {
				if instead, is := retiredWords[w]; is {
					t.Errorf("%s: %s uses the word %q; say %s, or what is done to what", file.at(name), name.Name, w, instead)
				}
			}
		}
	}
}

// partsOf returns the words of a name, in small letters.
func partsOf(name string) []string {
	var parts []string
	for _, w := range camelCase.FindAllString(name, -1) {
		parts = append(parts, strings.ToLower(w))
	}
	return parts
}

// declared returns the names that a file declares: its package, what stands at the level of the package, methods and
// fields. It says of each whether others meet it: the package does, or everybody if it is exported.
func declared(file *ast.File) map[*ast.Ident]bool {
	names := map[*ast.Ident]bool{file.Name: true}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names[d.Name] = d.Recv == nil || d.Name.IsExported()
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names[s.Name] = true
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names[name] = true
					}
				}
			}
			if d.Tok == token.TYPE {
				fieldsOf(d, names)
			}
		}
	}
	return names
}

func fieldsOf(d *ast.GenDecl, names map[*ast.Ident]bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			return f == nil
		}
		if f, ok := n.(*ast.Field); ok {
			for _, name := range f.Names {
				names[name] = name.IsExported()
			}
		}
		return true
	})
}
