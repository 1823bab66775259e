package bind9

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// A Purpose is what the keys of a Ring are for.
type Purpose string

// The purposes. Operator keys command servers and update zones; transfer keys are between the servers of a cluster.
const (
	ForOperator Purpose = "operator"
	ForTransfer Purpose = "transfer"
)

// base is the name of the first key.
func (p Purpose) base() string { return "bindy-" + string(p) }

// keyFile is the item of the Secret with all keys.
func (p Purpose) keyFile() string {
	if p == ForTransfer {
		return path.Base(FileTransferKeys)
	}
	return path.Base(FileKeys)
}

// number is the Count at which a key of that name was made.
func (p Purpose) number(name string) (count int, made bool) {
	if name == p.base() {
		return 0, true
	}
	digits, ok := strings.CutPrefix(name, p.base()+"-")
	n, err := strconv.Atoi(digits)
	const most = 1 << 30 // of a number that somebody wrote by hand, the next must still be one
	if !ok || err != nil || n < 2 || n > most || strconv.Itoa(n) != digits {
		return 0, false
	}
	return n - 1, true
}

func (p Purpose) made(name string) bool { _, made := p.number(name); return made }

// Past is how many keys there have been at least, where names of keys that are made are among these.
func (p Purpose) Past(names ...string) (count int) {
	for _, name := range names {
		if n, made := p.number(name); made {
			count = max(count, n+1)
		}
	}
	return count
}

// files are the items of the Secret that named and rndc include. The key in use comes first: who tries keys in their
// order succeeds at once.
func (p Purpose) files(r Ring, controlPort uint16) (map[string]string, error) {
	current, ok := r.Key()
	if !ok {
		return nil, fmt.Errorf("none of the keys for the %s is in use", p)
	}
	keys := []Key{current}
	for _, k := range r.Keys {
		if k != current {
			keys = append(keys, k)
		}
	}
	text, err := RenderKeys(keys...)
	if err != nil {
		return nil, err
	}
	var quotedNames, elements strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&quotedNames, " %q;", k.Name)
		fmt.Fprintf(&elements, " key %q;", k.Name)
	}
	if p == ForTransfer {
		return map[string]string{p.keyFile(): text, path.Base(FileTransfer): fmt.Sprintf("acl %q {%s };\n", TransferList,
			elements.String())}, nil
	}
	return map[string]string{
		p.keyFile(): text,
		path.Base(FileControls): fmt.Sprintf(
			"controls {\n\tinet 127.0.0.1 port %d allow { 127.0.0.1; } keys {%s };\n};\nacl %q {%s };\n",
			controlPort, quotedNames.String(), UpdateList, elements.String()),
		path.Base(FileClientKey): fmt.Sprintf(
			"options {\n\tdefault-key %q;\n\tdefault-server 127.0.0.1;\n\tdefault-port %d;\n};\n", current.Name, controlPort),
	}, nil
}
