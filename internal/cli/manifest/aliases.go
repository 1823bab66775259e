package manifest

import (
	"slices"
	"strings"
)

// IsCalled reports whether people may call an object's kind so: as kubectl has it, by its kind or resource, with or
// without its group, such as "dnsrecords.extensions.gardener.cloud".
func (r Ref) IsCalled(alias string) bool {
	for _, k := range kinds {
		if k.called == r.Kind && k.isCalled(alias) {
			return true
		}
	}
	return false
}

// KnowsKind reports whether there is a kind that people may call so.
func KnowsKind(alias string) bool {
	for _, k := range kinds {
		if k.isCalled(alias) {
			return true
		}
	}
	return false
}

// IsSource reports whether people may call a kind so that asks for names by what it is there for, or that such ones
// depend on.
func IsSource(alias string) bool {
	return slices.ContainsFunc(Resources(), func(r Resource) bool { return r.Source && r.IsCalled(alias) })
}

// KindNames returns what people call the kinds, in the order of the alphabet.
func KindNames() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, strings.ToLower(k.name))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (k *kind) isCalled(alias string) bool {
	alias, group, grouped := strings.Cut(strings.ToLower(alias), ".")
	if own, _, ok := strings.Cut(k.apiVersion, "/"); grouped && (!ok || group != own) {
		return false
	}
	one := strings.ToLower(k.name)
	plural := one + "s"
	if strings.HasSuffix(one, "s") {
		plural = one + "es"
	}
	return alias == one || alias == plural
}
