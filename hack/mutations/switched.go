package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/test/sim"
)

// variable is the environment variable that names the mutation that is on.
const variable = "MUTATION"

// A mutated edit is one of a mutation.
type mutated struct {
	mutation string
	sim.Edit
}

// switched returns a file in which each of some edits is there when the variable names its mutation: a function that
// has edits gets a copy of itself for each mutation, and begins by asking which is meant.
func switched(source string, edits []mutated) (string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, edits[0].File, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	copies := map[*ast.FuncDecl]map[string][]insert{} // by mutation
	for _, e := range edits {
		at, err := e.In(source)
		if err != nil {
			return "", fmt.Errorf("mutation %s: %w", e.mutation, err)
		}
		f := enclosing(file, token.Pos(at+int(file.FileStart)), token.Pos(at+len(e.Old)+int(file.FileStart)))
		if f == nil {
			return "", fmt.Errorf("mutation %s: the text in %s is not in one function:\n%s", e.mutation, e.File, e.Old)
		}
		if copies[f] == nil {
			copies[f] = map[string][]insert{}
		}
		copies[f][e.mutation] = append(copies[f][e.mutation], insert{at, len(e.Old), e.New})
	}
	var out []insert
	for f, mutations := range copies {
		d := declaration{f, source, int(file.FileStart)}
		var ask, all strings.Builder
		for _, name := range slices.Sorted(maps.Keys(mutations)) {
			fmt.Fprintf(&ask, "\nif isMutated(%q) { %s }\n", name, d.call(as(name)))
			fmt.Fprintf(&all, "\n\n%s", d.text(append(mutations[name], insert{d.at(f.Name.End()), 0, as(name)})))
		}
		out = append(out, append(d.names(), insert{d.at(f.Body.Lbrace) + 1, 0, ask.String()},
			insert{d.at(f.End()), 0, all.String()})...)
	}
	return apply(source, 0, len(source), out), nil
}

// as is what the name of a function ends with that has a mutation.
func as(mutation string) string { return "Mutated" + strings.ReplaceAll(mutation, "-", "") }

// enclosing returns the function that has a part of a file.
func enclosing(file *ast.File, from, to token.Pos) *ast.FuncDecl {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Body.Lbrace < from && to <= f.End() {
			return f
		}
	}
	return nil
}

// A declaration is one of a function in a file.
type declaration struct {
	f      *ast.FuncDecl
	source string
	start  int // of the file
}

func (d declaration) at(p token.Pos) int { return int(p) - d.start }

// text is the declaration with changes.
func (d declaration) text(changes []insert) string {
	return apply(d.source, d.at(d.f.Pos()), d.at(d.f.End()), append(changes, d.names()...))
}

// names gives names to what has none of receiver and parameters.
func (d declaration) names() (out []insert) {
	d.each(func(i int, field *ast.Field, name *ast.Ident) {
		switch {
		case name == nil:
			out = append(out, insert{d.at(field.Type.Pos()), 0, unnamed(i) + " "})
		case name.Name == "_":
			out = append(out, insert{d.at(name.Pos()), 1, unnamed(i)})
		}
	})
	return out
}

func unnamed(i int) string { return "unnamed" + strconv.Itoa(i) }

// call calls the function of a name that ends otherwise with what this one was called with.
func (d declaration) call(end string) string {
	receiver, arguments := "", []string{}
	d.each(func(i int, field *ast.Field, name *ast.Ident) {
		text := unnamed(i)
		if name != nil && name.Name != "_" {
			text = name.Name
		}
		if d.f.Recv != nil && i == 0 {
			receiver = text + "."
			return
		}
		if _, many := field.Type.(*ast.Ellipsis); many {
			text += "..."
		}
		arguments = append(arguments, text)
	})
	call := receiver + d.f.Name.Name + end + "(" + strings.Join(arguments, ", ") + ")"
	if d.f.Type.Results == nil {
		return call + "; return"
	}
	return "return " + call
}

// each visits receiver and parameters; the name is nil where there is none.
func (d declaration) each(visit func(i int, field *ast.Field, name *ast.Ident)) {
	i := 0
	for _, list := range []*ast.FieldList{d.f.Recv, d.f.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				visit(i, field, nil)
				i++
			}
			for _, name := range field.Names {
				visit(i, field, name)
				i++
			}
		}
	}
}

// An insert is a text that takes the place of so many bytes.
type insert struct {
	at, instead int
	text        string
}

// apply returns a part of a text with changes.
func apply(source string, from, to int, changes []insert) string {
	slices.SortStableFunc(changes, func(a, b insert) int { return a.at - b.at })
	var out strings.Builder
	for _, c := range changes {
		out.WriteString(source[from:c.at] + c.text)
		from = c.at + c.instead
	}
	return out.String() + source[from:to]
}

// asking is a file of the package of a source that has functions with mutations. A folder may be called otherwise.
func asking(source string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly)
	if err != nil {
		return "", fmt.Errorf("looking for the package of a file: %w", err)
	}
	return "package " + file.Name.Name + "\n\nimport \"os\"\n\nfunc isMutated(name string) bool { return os.Getenv(" +
		strconv.Quote(variable) + ") == name }\n", nil
}

// askingAt is where the file is that asking returns, of the package of a file.
func askingAt(file string) string { return path.Join(path.Dir(file), "zz_mutated.go") }
