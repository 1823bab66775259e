package support

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// leftOut stands where something was.
const leftOut = "(left out)"

var (
	// credential are the names of fields that hold a secret, where they are no reference to one.
	credential = regexp.MustCompile(`(?i)^(secret|stringdata|password|passwd|passphrase|token|bearertoken|api_?key|` +
		`api_?token|private_?key|secret_?access_?key|client_?secret|credentials?)$`)
	// userinfo is what stands before the host in a URL.
	userinfo = regexp.MustCompile(`://[^/\s@"']+@`)
)

// data are the names of fields that hold the data of records, in the kinds of all dialects.
var data = []string{"rdata", "data", "values", "value", "targets", "target", "text", "delta", "addresses", "ipv4",
	"ipv4Address", "ipv4Addresses", "ipv6", "ipv6Address", "ipv6Addresses", "mailServer", "nameserver", "nameServerIps",
	"dsRecords", "published"}

// minData is how long data is that is looked for in texts: a "10" is anywhere.
const minData = 4

// A redactor takes out of objects and texts what others need not see.
type redactor struct {
	key   []byte            // of the hashes; nil: data stays
	known map[string]string // data that was seen in objects, with what stands for it
}

// clean takes out of an object what managers of fields and kubectl note, and what may be a secret, and stands hashes in
// the place of data.
func (r *redactor) clean(object map[string]any) {
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
			for name, value := range annotations {
				annotations[name] = r.value("", "", value)
			}
		}
	}
	for name, value := range object {
		if name != "metadata" {
			object[name] = r.value(name, "", value)
		}
	}
}

// value returns a value as it may be seen. It is that of a field, which is in another.
func (r *redactor) value(field, above string, value any) any {
	if credential.MatchString(field) && !strings.HasSuffix(above, "Ref") {
		return leftOut
	}
	if r.key != nil && slices.Contains(data, field) {
		return r.hashed(value)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, in := range v {
			v[name] = r.value(name, field, in)
		}
	case []any:
		for i, in := range v {
			v[i] = r.value("", field, in)
		}
	case string:
		return userinfo.ReplaceAllString(v, "://"+leftOut+"@")
	}
	return value
}

// hashed returns a value with hashes in the place of its strings. The same data has the same hash within one bundle.
func (r *redactor) hashed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, in := range v {
			v[name] = r.hashed(in)
		}
	case []any:
		for i, in := range v {
			v[i] = r.hashed(in)
		}
	case string:
		if v == "" {
			return v
		}
		sum := hmac.New(sha256.New, r.key)
		sum.Write([]byte(v))
		hash := "data-" + hex.EncodeToString(sum.Sum(nil))[:12]
		if len(v) >= minData {
			r.known[v] = hash
		}
		return hash
	}
	return value
}

// replacer finds the data of objects in texts, as it is and as JSON has it.
func (r *redactor) replacer() *strings.Replacer {
	var pairs []string
	words := make([]string, 0, len(r.known))
	for word := range r.known {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b string) int { // of two that begin alike, the longer one first
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	for _, word := range words {
		pairs = append(pairs, word, r.known[word])
		if quoted, err := json.Marshal(word); err == nil && string(quoted[1:len(quoted)-1]) != word {
			pairs = append(pairs, string(quoted[1:len(quoted)-1]), r.known[word])
		}
	}
	return strings.NewReplacer(pairs...)
}
