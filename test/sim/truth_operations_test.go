package sim

import (
	"net/http"
	"net/url"
)

// collection is the path of all objects of a kind in the namespace.
func (l *living) collection() string { return l.path(l.namespace) }

// one is the path of one object.
func (l *living) one(name string) string { return l.collection() + "/" + name }

// listing is the path of a list of what is ours, with more labels and more in its query.
func (l *living) listing(labels, query string) string {
	return l.collection() + "?labelSelector=" + url.QueryEscape("life="+l.namespace+labels) + query
}

func (l *living) labels(of string) map[string]any {
	return map[string]any{"life": l.namespace, "of": of}
}

// patch is a patch of an object.
func (l *living) patch(name, contentType string, body func(*side) any) operation {
	return operation{method: http.MethodPatch, contentType: contentType, body: body,
		path: func(*side) string { return l.one(name) }}
}

// choose chooses at random.
func (l *living) choose(all ...string) string { return all[l.random.IntN(len(all))] }

// some is an operation that a client might have, right or wrong.
func (l *living) some() operation {
	name := l.choose(l.names...)
	all := []func(string) operation{l.read, l.list, l.create, l.create, l.update, l.update, l.merge, l.merge, l.changeJSON,
		l.changeJSON, l.unhold, l.remove}
	if l.kind.fields("") != nil { // who set what of a Lease is not noted here, and nobody applies one
		all = append(all, l.apply, l.apply, l.apply)
	}
	o := all[l.random.IntN(len(all))](name)
	if l.random.IntN(4) == 0 && o.method == http.MethodPatch {
		o.accept = partialObject
	}
	if path := o.path; l.random.IntN(16) == 0 && o.method != http.MethodGet && o.method != http.MethodDelete &&
		o.contentType != applyPatch {
		o.path = func(s *side) string { return path(s) + "?dryRun=All" }
	}
	return o
}

func (l *living) read(name string) operation {
	o := sameForBoth(http.MethodGet, l.one(name), nil)
	o.accept = l.choose("", partialObject)
	return o
}

// list is a list, or a page of one.
func (l *living) list(name string) operation {
	o := sameForBoth(http.MethodGet, l.listing("", ""), nil)
	label, limit := l.choose("x", "y"), l.choose("1", "1", "2")
	switch l.choose("all", "label", "name", "first page", "next page", "next page") {
	case "label":
		o = sameForBoth(http.MethodGet, l.listing(",of="+label, ""), nil)
	case "name":
		o = sameForBoth(http.MethodGet, l.listing("", "&fieldSelector=metadata.name%3D"+name), nil)
	case "first page":
		o = sameForBoth(http.MethodGet, l.listing("", "&limit="+limit), nil)
	case "next page":
		o.path = func(s *side) string {
			return l.listing("", "&limit="+limit+"&continue="+url.QueryEscape(s.next))
		}
	}
	o.accept = l.choose("", "", "", partialList)
	return o
}

// metadata are those of an object as somebody sends them, who knows it as it is, as it was, or not at all.
func (l *living) metadata(name string) func(*side) map[string]any {
	version, uid := l.choose("none", "now", "now", "stale"), l.choose("none", "none", "its own", "another")
	return func(s *side) map[string]any {
		m := map[string]any{}
		was := s.was[name]
		switch {
		case version == "now" && was != nil:
			m["resourceVersion"] = was["resourceVersion"]
		case version == "stale" && s.stale[name] != "":
			m["resourceVersion"] = s.stale[name]
		}
		switch {
		case uid == "its own" && was != nil:
			m["uid"] = was["uid"]
		case uid == "another":
			m["uid"] = "00000000-0000-0000-0000-00000000abcd"
		}
		return m
	}
}

// object is a whole object, with or without a version.
func (l *living) object(name string, versioned bool) func(*side) map[string]any {
	of, held, content := l.choose("x", "y"), l.random.IntN(4) == 0, l.content(l.random)
	metadata := l.metadata(name)
	if l.random.IntN(30) == 0 {
		name += "-other"
	}
	return func(s *side) map[string]any {
		m := metadata(s)
		if !versioned {
			delete(m, "resourceVersion")
		}
		m["name"], m["labels"] = name, l.labels(of)
		if l.kind.namespaced {
			m["namespace"] = l.namespace
		}
		if held {
			m["finalizers"] = []any{"zonefold.dev/withdraw"}
		}
		out := map[string]any{}
		for k, v := range content {
			out[k] = v
		}
		out["metadata"] = m
		return out
	}
}

func (l *living) create(name string) operation {
	object := l.object(name, l.random.IntN(8) == 0)
	o := sameForBoth(http.MethodPost, l.collection(), nil)
	o.body = func(s *side) any { return object(s) }
	return o
}

// update is an update of an object, or of its status.
func (l *living) update(name string) operation {
	object := l.object(name, true)
	o := sameForBoth(http.MethodPut, l.part(name), nil)
	o.body = func(s *side) any { return object(s) }
	return o
}

// part is the path of an object, or of its status.
func (l *living) part(name string) string {
	if l.kind.hasStatus && l.random.IntN(2) == 0 {
		return l.one(name) + "/status"
	}
	return l.one(name)
}

// merge is a merge patch of metadata, content or status.
func (l *living) merge(name string) operation {
	metadata, content, of := l.metadata(name), l.content(l.random), l.choose("x", "y")
	what := l.choose("labels", "finalizers", "content", "content")
	path := l.part(name)
	o := l.patch(name, mergePatch, func(s *side) any {
		m := metadata(s)
		out := map[string]any{"metadata": m}
		switch what {
		case "labels":
			m["labels"] = map[string]any{"of": of, "more": nil}
		case "finalizers":
			m["finalizers"] = []any{"zonefold.dev/withdraw", "example.org/" + of}
		default:
			for k, v := range content {
				if k != "apiVersion" && k != "kind" {
					out[k] = v
				}
			}
		}
		return out
	})
	o.path = func(*side) string { return path }
	return o
}

// changeJSON is a JSON patch, which tests what it is about to change.
func (l *living) changeJSON(name string) operation {
	metadata, path := l.metadata(name), l.part(name)
	steps := l.steps()
	o := l.patch(name, jsonPatch, func(s *side) any {
		var out []any
		for _, field := range []string{"uid", "resourceVersion"} {
			if value := metadata(s)[field]; value != nil {
				out = append(out, map[string]any{"op": "test", "path": "/metadata/" + field, "value": value})
			}
		}
		return append(out, steps...)
	})
	o.path = func(*side) string { return path }
	return o
}

// steps are those of a JSON patch.
func (l *living) steps() (out []any) {
	places := []string{"/metadata/labels/of", "/metadata/labels/more", "/metadata/annotations/more",
		"/metadata/finalizers", "/metadata/finalizers/-", "/metadata/finalizers/0", "/metadata/name"}
	if l.kind.custom != nil {
		places = append(places, "/status", "/spec")
	}
	content := l.content(l.random)
	for _, part := range []string{"status", "spec", "data"} {
		for _, field := range sortedKeys(content[part]) {
			places = append(places, "/"+part+"/"+field, "/"+part+"/"+field, "/"+part+"/"+field)
		}
	}
	for range 1 + l.random.IntN(2) {
		place := l.choose(places...)
		value := l.valueAt(content, place)
		test := map[string]any{"op": "test", "path": place, "value": value}
		ways := []string{"swap", "swap", "swap from none", "add", "replace", "remove", "copy"}
		if l.kind.custom == nil { // of what type values are is not looked at
			ways = ways[:len(ways)-1]
		}
		switch l.choose(ways...) {
		case "swap":
			out = append(out, test, map[string]any{"op": "add", "path": place, "value": l.valueAt(l.content(l.random), place)})
		case "swap from none":
			test["value"] = nil
			out = append(out, test, map[string]any{"op": "add", "path": place, "value": value})
		case "add":
			out = append(out, map[string]any{"op": "add", "path": place, "value": value})
		case "replace":
			out = append(out, map[string]any{"op": "replace", "path": place, "value": value})
		case "remove":
			out = append(out, map[string]any{"op": "remove", "path": place})
		case "copy":
			out = append(out, map[string]any{"op": l.choose("copy", "move"), "from": l.choose(places...), "path": place})
		}
	}
	return out
}

// unhold takes off all finalizers.
func (l *living) unhold(name string) operation {
	return l.patch(name, mergePatch, func(*side) any {
		return map[string]any{"metadata": map[string]any{"finalizers": nil}}
	})
}

// apply is server-side apply, by one of two managers.
func (l *living) apply(name string) operation {
	object, some := l.object(name, l.random.IntN(4) == 0), l.random.IntN(2) == 0
	path := l.part(name) + "?fieldManager=" + l.choose("one", "two") + l.choose("", "&force=true")
	o := l.patch(name, applyPatch, func(s *side) any {
		out := object(s)
		if some {
			delete(out, "spec")
		}
		withoutNull(out)
		return out
	})
	o.path = func(*side) string { return path }
	return o
}

// remove is a deletion, on conditions or without.
func (l *living) remove(name string) operation {
	metadata := l.metadata(name)
	o := sameForBoth(http.MethodDelete, l.one(name), nil)
	o.body = func(s *side) any {
		return map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": metadata(s)}
	}
	return o
}

// withoutNull leaves out nulls, which nobody applies.
func withoutNull(value map[string]any) {
	for k, v := range value {
		switch v := v.(type) {
		case nil:
			delete(value, k)
		case map[string]any:
			withoutNull(v)
		case []any:
			for _, one := range v {
				if inner, ok := one.(map[string]any); ok {
					withoutNull(inner)
				}
			}
		}
	}
}
