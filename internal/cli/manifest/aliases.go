package manifest

import "strings"

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
