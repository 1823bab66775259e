package externaldns

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"

	"github.com/zonefold/zonefold/internal/guarded"
)

// A Token lets who has it act for a namespace.
type Token struct {
	Secret    string
	Namespace string
}

// Tokens are those of all Backends.
type Tokens struct {
	all guarded.Value[map[string][]Token] // by Backend
}

// Set replaces the tokens of a Backend; none removes it.
func (t *Tokens) Set(backend string, all []Token) {
	known, unlock := t.all.Lock()
	defer unlock()
	if *known == nil {
		*known = map[string][]Token{}
	}
	delete(*known, backend)
	if len(all) > 0 {
		(*known)[backend] = slices.Clone(all)
	}
}

// namespace returns what a token stands for, in a time that does not depend on how much of it is right; or else why it
// stands for none.
func (t *Tokens) namespace(token string) (namespace, refusal string) {
	said := sha256.Sum256([]byte(token))
	all, unlock := t.all.Lock()
	defer unlock()
	for _, tokens := range *all {
		for _, one := range tokens {
			known := sha256.Sum256([]byte(one.Secret))
			switch {
			case subtle.ConstantTimeCompare(said[:], known[:]) == 0 || namespace == one.Namespace:
			case namespace != "":
				refusal = "Several namespaces have this token; give each namespace its own."
			default:
				namespace = one.Namespace
			}
		}
	}
	if namespace == "" {
		refusal = "No Backend has this token in embedded.externalDNS: write http://external-dns:TOKEN@ before the " +
			"host of the URL, with the token that is in the Secret."
	}
	return namespace, refusal
}
