package bind9

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The items of a Secret that say which key is in use, and the annotations beside them.
const (
	ItemName      = "key-name"
	ItemAlgorithm = "algorithm"
	ItemSecret    = "secret"

	AnnotationCreatedAt  = "bindy.firestoned.io/rndc-created-at"
	AnnotationRotateAt   = "bindy.firestoned.io/rndc-rotate-at"
	AnnotationSwitchedAt = "bindy.firestoned.io/rndc-switched-at"
	AnnotationCount      = "bindy.firestoned.io/rndc-rotation-count"
)

// Data are the items of the Secret that publishes the Ring. controlPort zero is ControlPort.
func (r Ring) Data(p Purpose, controlPort uint16) (map[string][]byte, error) {
	if controlPort == 0 {
		controlPort = ControlPort
	}
	files, err := p.files(r, controlPort)
	if err != nil {
		return nil, err
	}
	current, _ := r.Key()
	data := map[string][]byte{ItemName: []byte(current.Name), ItemAlgorithm: []byte(current.Algorithm),
		ItemSecret: []byte(current.Secret)}
	for name, text := range files {
		data[name] = []byte(text)
	}
	return data, nil
}

// Annotations are those of the Secret; times that are zero are left out.
func (r Ring) Annotations() map[string]string {
	all := map[string]string{AnnotationCount: strconv.Itoa(r.Count)}
	for name, at := range map[string]time.Time{AnnotationCreatedAt: r.CreatedAt, AnnotationSwitchedAt: r.SwitchedAt,
		AnnotationRotateAt: r.RotateAt} {
		if !at.IsZero() {
			all[name] = at.UTC().Format(time.RFC3339)
		}
	}
	return all
}

// ReadRing reads a Secret, whoever wrote it: us, an older version, or by hand. The keys that servers accept are those
// of the key file, and only where there is none that can be read, the one of the three items. Without any usable key
// the Ring is empty, and the error says why; what annotations are missing or wrong, Next mends.
func ReadRing(p Purpose, data map[string][]byte, annotations map[string]string) (Ring, error) {
	r := Ring{
		CreatedAt: readTime(annotations[AnnotationCreatedAt]), SwitchedAt: readTime(annotations[AnnotationSwitchedAt]),
		RotateAt: readTime(annotations[AnnotationRotateAt]),
	}
	if n, err := strconv.Atoi(annotations[AnnotationCount]); err == nil && n > 0 {
		r.Count = n
	}
	keys, fileErr := ParseKeys(string(data[p.keyFile()]))
	single, itemsErr := keyFromItems(data, ItemFields{})
	switch {
	case fileErr == nil && len(keys) > 0:
		r.Keys, r.InUse = keys, keys[0].Name
		// The name alone: with another secret, servers would not accept it.
		if k, ok := r.named(strings.TrimSpace(string(data[ItemName]))); ok {
			r.InUse = k.Name
		}
	case itemsErr == nil:
		r.Keys, r.InUse = []Key{single}, single.Name
	case fileErr != nil:
		return r, fmt.Errorf("the item %s cannot be used (%w), nor can the others (%w)", p.keyFile(), fileErr, itemsErr)
	default:
		return r, itemsErr
	}
	return r, nil
}

func readTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// ItemFields say under which items of a supplied Secret the key is. What is "" is as in our own.
type ItemFields struct {
	Name, Secret string
	// Algorithm is the algorithm itself, not an item. The Secret may say it too, and then has to say the same.
	Algorithm string
}

// KeyFromItems reads a key that somebody supplied: a name and a secret, or else a file rndc.key with one key.
func KeyFromItems(data map[string][]byte, fields ItemFields) (Key, error) {
	k, err := keyFromItems(data, fields)
	// The transfer key of the same servers may come to have the name: they cannot have two keys of one name.
	if err == nil && ForTransfer.made(strings.ToLower(k.Name)) {
		return Key{}, fmt.Errorf("the key name %q is for transfers; choose another", k.Name)
	}
	return k, err
}

func keyFromItems(data map[string][]byte, fields ItemFields) (Key, error) {
	if fields.Name == "" {
		fields.Name = ItemName
	}
	if fields.Secret == "" {
		fields.Secret = ItemSecret
	}
	item := func(name string) string { return strings.TrimSpace(string(data[name])) }
	if item(fields.Name) == "" && item(fields.Secret) == "" {
		return keyFromFile(data, fields)
	}
	for _, name := range []string{fields.Name, fields.Secret} {
		if item(name) == "" {
			return Key{}, fmt.Errorf("the item %s is missing or empty; a key has a name and a secret", quoteShort(name))
		}
	}
	algorithm, err := agreedAlgorithm(item(ItemAlgorithm), fields.Algorithm)
	if err != nil {
		return Key{}, err
	}
	k := Key{Name: strings.TrimSuffix(item(fields.Name), "."), Algorithm: algorithm, Secret: item(fields.Secret)}
	return k, k.Validate()
}

func keyFromFile(data map[string][]byte, fields ItemFields) (Key, error) {
	file := ForOperator.keyFile()
	if len(data[file]) == 0 {
		return Key{}, fmt.Errorf("the items %s and %s are missing; a key has a name and a secret", quoteShort(fields.Name),
			quoteShort(fields.Secret))
	}
	keys, err := ParseKeys(string(data[file]))
	if err != nil {
		return Key{}, fmt.Errorf("the item %s: %w", file, err)
	}
	if len(keys) != 1 {
		return Key{}, fmt.Errorf("the item %s has %d keys; write the one to use into the items %s and %s", file, len(keys),
			quoteShort(fields.Name), quoteShort(fields.Secret))
	}
	_, err = agreedAlgorithm(string(keys[0].Algorithm), fields.Algorithm)
	return keys[0], err
}

// agreedAlgorithm is the one that is said; SHA256 where none is.
func agreedAlgorithm(inSecret, inReference string) (Algorithm, error) {
	var said []Algorithm
	for _, text := range []string{inSecret, inReference} {
		if text == "" {
			continue
		}
		a, err := ParseAlgorithm(text)
		if err != nil {
			return "", err
		}
		said = append(said, a)
	}
	switch {
	case len(said) == 0:
		return SHA256, nil
	case said[0] != said[len(said)-1]:
		return "", fmt.Errorf("the Secret says that the algorithm is %s, and what refers to it says %s; make them equal",
			said[0], said[1])
	}
	return said[0], nil
}
