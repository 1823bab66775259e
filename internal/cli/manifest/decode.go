package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// read reads the objects of one document.
func (d *document) read(namespace string) Input {
	r := reader{doc: d, namespace: namespace}
	if d.list != nil {
		r.items(d.list.Items, "", head{APIVersion: d.list.APIVersion, Kind: strings.TrimSuffix(d.list.Kind, "List")})
		return r.out
	}
	text, err := d.toJSON(&r)
	if err != nil {
		r.unreadable(err)
		return r.out
	}
	text = bytes.TrimSpace(text)
	if bytes.Equal(text, []byte("null")) || r.twice == nil && r.plain(text, "") {
		return r.out
	}
	r.object(text, "", head{})
	return r.out
}

// plain reads the usual object, which has no fault, without looking for its head first. It
// reports whether that was all.
func (r *reader) plain(text []byte, path string) bool {
	for _, k := range kinds {
		if !bytes.HasPrefix(text, k.begin) {
			continue
		}
		o := &Object{Ref: Ref{Kind: k.called}, JSON: text, doc: r.doc, path: path}
		meta, unknown, err := k.decode(text, o)
		if err != nil || len(unknown) > 0 || meta.GetName() == "" {
			return false
		}
		r.take(o, k, meta.GetNamespace(), meta.GetName())
		meta.SetNamespace(o.Ref.Namespace)
		meta.SetManagedFields(nil) // nobody asks for them, and they take most of an object
		return true
	}
	return false
}

// toJSON turns the document into JSON the way kubectl does, YAML 1.1 and all. A key
// that is set twice is a problem; its last value counts.
func (d *document) toJSON(r *reader) ([]byte, error) {
	if d.json {
		return d.text, nil
	}
	text, err := yaml.YAMLToJSONStrict(d.text)
	if err == nil {
		return text, nil
	}
	text, plain := yaml.YAMLToJSON(d.text)
	if plain != nil {
		return nil, plain
	}
	place, message := d.complaint(err)
	if key := keyInError.FindStringSubmatch(message); key != nil {
		message = fmt.Sprintf("The field %s is set twice; the last one counts.", key[1])
	}
	r.twice = &Problem{Place: place, Reason: FieldTwice, Message: message}
	return text, nil
}

// A reader gathers what one document holds.
type reader struct {
	doc       *document
	namespace string
	out       Input
	twice     *Problem // told only of documents that hold objects of ours
}

// unreadable tells of a document that is no YAML. In a folder there may be templates
// and other things that are none of our business.
func (r *reader) unreadable(err error) {
	place, message := r.doc.complaint(err)
	p := Problem{Place: place, Reason: Unreadable, Message: "The document is not YAML: " + message}
	r.out.unreadable(r.doc.named || mentionsUs(r.doc.text), p)
}

func (in *Input) unreadable(ours bool, p Problem) {
	if ours {
		in.Problems = append(in.Problems, p)
	} else {
		in.Ignored = append(in.Ignored, p)
	}
}

var (
	lineInError = regexp.MustCompile(`line (\d+): `)
	// A plain scalar begins with no such character (YAML 1.2 §7.3.3).
	bareValue  = regexp.MustCompile(`(?m)(?:: |- |[\[,] ?)((?:\*|@)[^\s,\]}"']*)`)
	keyInError = regexp.MustCompile(`^key (".*") already set in map\.$`)
)

// complaint takes the line out of an error of the YAML parser, which counts from the
// beginning of the document.
func (d *document) complaint(err error) (Place, string) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	message = strings.TrimPrefix(message, "unmarshal errors:\n  ")
	message, _, _ = strings.Cut(message, "\n")
	place := Place{d.file, d.line}
	if at := lineInError.FindStringSubmatchIndex(message); at != nil {
		if n, err := strconv.Atoi(message[at[2]:at[3]]); err == nil {
			place = d.place(n)
			message = message[:at[0]] + message[at[1]:]
		}
	}
	if strings.HasPrefix(message, "invalid map key: ") {
		message = "a mapping appears where a key belongs, as in an unfilled template"
	}
	if value := bareValue.FindSubmatch(d.text); value != nil {
		message += fmt.Sprintf(`; a value that begins with %s needs quotes: "%s"`, value[1][:1], value[1])
	}
	return place, message + "."
}

// head is what every object begins with.
type head struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	Items      []json.RawMessage
	domainName bool // there is a spec.domainName, which only ours have
}

// readHead reads what it can of the head of an object; fields of a wrong type are
// taken for missing.
func readHead(text []byte) (head, bool) {
	var raw struct {
		APIVersion json.RawMessage `json:"apiVersion"`
		Kind       json.RawMessage `json:"kind"`
		Metadata   json.RawMessage `json:"metadata"`
		Items      json.RawMessage `json:"items"`
		Spec       json.RawMessage `json:"spec"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(text, &raw) != nil {
		return head{}, false
	}
	var h head
	var meta struct {
		Namespace json.RawMessage `json:"namespace"`
		Name      json.RawMessage `json:"name"`
	}
	if raw.Metadata != nil {
		_ = kjson.UnmarshalCaseSensitivePreserveInts(raw.Metadata, &meta) // no map: no name
	}
	for _, f := range []struct {
		raw  json.RawMessage
		into any
	}{{raw.APIVersion, &h.APIVersion}, {raw.Kind, &h.Kind}, {meta.Namespace, &h.Namespace}, {meta.Name, &h.Name},
		{raw.Items, &h.Items}} {
		if f.raw != nil {
			_ = json.Unmarshal(f.raw, f.into)
		}
	}
	if h.Kind == "" && raw.Spec != nil {
		h.domainName = bytes.Contains(raw.Spec, []byte(`"domainName"`))
	}
	return h, true
}

// object reads one object, or the items of a list. What it does not say of itself,
// items of a typed list take from the list.
func (r *reader) object(text []byte, path string, list head) {
	h, ok := readHead(text)
	if !ok {
		if r.doc.named || path != "" {
			r.problem(path, NoObject, "%s is not an object; an object has apiVersion, kind and metadata.", r.what(path))
		} else {
			r.out.Skipped = append(r.out.Skipped, noObject)
		}
		return
	}
	if h.Kind == "" && h.APIVersion == "" {
		h.Kind, h.APIVersion = list.Kind, list.APIVersion
	}
	if items, ok := itemsOf(h); ok && strings.Count(path, "[") < maxLists {
		r.items(h.Items, path, items)
		return
	}
	k, known := kindOf(h.APIVersion, h.Kind)
	if !known {
		r.unknown(path, h)
		return
	}
	if h.Name == "" {
		r.problem(path, NoObject, "%s is a %s without metadata.name; give it one.", r.what(path), h.Kind)
		return
	}
	o := &Object{Ref: Ref{Kind: k.called}, JSON: text, doc: r.doc, path: path}
	r.take(o, k, h.Namespace, h.Name)
	r.decode(o, k)
	if r.twice != nil {
		r.twice.Object = o.Ref
		r.out.Problems = append(r.out.Problems, *r.twice)
		r.twice = nil
	}
}

// items reads the items of a list.
func (r *reader) items(all []json.RawMessage, path string, list head) {
	for i, item := range all {
		if at := fmt.Sprintf("%sitems[%d]", withDot(path), i); r.twice != nil || !r.plain(item, at) {
			r.object(item, at, list)
		}
	}
}

// take gives an object its name and puts it into the list.
func (r *reader) take(o *Object, k kind, namespace, name string) {
	o.Name = name
	if o.Ref.Namespace = namespace; namespace == "" {
		o.Ref.Namespace = r.namespace
	}
	if k.cluster {
		o.Ref.Namespace = ""
	}
	r.out.Objects = append(r.out.Objects, o)
}

// maxLists is how deep lists may hold lists.
const maxLists = 8

// itemsOf reports whether an object is a list that may hold objects of ours, and what
// its items are if they do not say so.
func itemsOf(h head) (head, bool) {
	kind, ok := strings.CutSuffix(h.Kind, "List")
	if !ok || h.Items == nil {
		return head{}, false
	}
	if kind == "" {
		return head{}, h.APIVersion == "v1"
	}
	_, ok = kindOf(h.APIVersion, kind)
	return head{APIVersion: h.APIVersion, Kind: kind}, ok
}

// decode fills in the object, strictly as the API server does for kubectl.
func (r *reader) decode(o *Object, k kind) {
	meta, unknown, err := k.decode(o.JSON, o)
	if err != nil && bytes.Contains(o.JSON, []byte(`"status"`)) {
		// A status is the operator's and not the author's: it must not spoil the object.
		if text, ok := withoutStatus(o.JSON); ok {
			meta, unknown, err = k.decode(text, o)
		}
	}
	if err != nil {
		o.Fault = faultOf(err)
		return
	}
	meta.SetNamespace(o.Ref.Namespace)
	meta.SetManagedFields(nil)
	for _, e := range unknown {
		field := e.Error()
		var at kjson.FieldError
		if errors.As(e, &at) {
			field = at.FieldPath()
		}
		if strings.HasPrefix(e.Error(), "duplicate") {
			r.about(o, field, FieldTwice, "%s sets %s twice; the last one counts.", o.Ref, field)
			continue
		}
		way := "; correct or remove it."
		if question := meantField(o, field); question != "" {
			way = question
		}
		r.about(o, field, UnknownField, "%s has the field %s, which its kind does not have%s", o.Ref, field, way)
	}
}

func withoutStatus(text []byte) ([]byte, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil, false
	}
	delete(members, "status")
	out, err := json.Marshal(members)
	return out, err == nil
}

func (r *reader) problem(path, reason, format string, args ...any) {
	r.out.Problems = append(r.out.Problems, Problem{
		Place: r.doc.placeOf(path), Reason: reason, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) about(o *Object, field, reason, format string, args ...any) {
	r.out.Problems = append(r.out.Problems, Problem{
		Place: o.PlaceOf(field), Object: o.Ref, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// what names a part of the document in a message.
func (r *reader) what(path string) string {
	if path == "" {
		return "The document"
	}
	return "The item " + path
}

func withDot(path string) string {
	if path == "" {
		return ""
	}
	return path + "."
}
