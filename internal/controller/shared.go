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
