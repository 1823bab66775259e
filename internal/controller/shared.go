package controller

// mostShared is how many different values are kept of each kind.
const mostShared = 4096

// Shared keeps values by what identifies them, so that the objects of a cache, which are only read, have in common what
// is equal. When there are many it forgets them all: then they are not what many have in common.
type Shared[T any] map[string]T

// One returns the value for key, fresh if there is none yet.
func (s *Shared[T]) One(key string, fresh func() T) T {
	if v, ok := (*s)[key]; ok {
		return v
	}
	if *s == nil || len(*s) >= mostShared {
		*s = Shared[T]{}
	}
	v := fresh()
	(*s)[key] = v
	return v
}

// Share has equal texts be one.
func Share(texts *Shared[string], all ...*string) {
	for _, s := range all {
		*s = texts.One(*s, func() string { return *s })
	}
}

// Only returns the values of some names; nil if there are none. Annotations and labels of an object may be a megabyte.
func Only(all map[string]string, names ...string) (kept map[string]string) {
	for _, name := range names {
		if value, is := all[name]; is {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[name] = value
		}
	}
	return kept
}
