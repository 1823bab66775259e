package bind9

import (
	"fmt"
	"strings"
)

// The files of a server's configuration. The key files are below ConfigDir too, in their own folder: they come from
// Secrets.
const (
	FileMain    = "named.conf"
	FileOptions = "named.conf.options"
	FileZones   = "named.conf.zones" // the user's
	FileClient  = "rndc.conf"

	FileKeys         = "keys/rndc.key"
	FileControls     = "keys/named.conf.keys"
	FileTransferKeys = "keys/transfer.key"
	FileTransfer     = "keys/named.conf.transfer"
	FileClientKey    = "keys/rndc.conf.options"
)

// Configuration makes the files of a server from values: named.conf, named.conf.options and rndc.conf. An error names
// the field and the value that BIND would not take.
func Configuration(o Options) (map[string]string, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	return map[string]string{FileMain: o.main(), FileOptions: options, FileClient: o.client()}, nil
}

const header = "// Made by zonefold; edits are undone.\n"

// main is named.conf: it brings the other files together.
func (o Options) main() string {
	var b strings.Builder
	b.WriteString(header)
	files := []string{FileKeys, FileControls, FileTransferKeys, FileTransfer, FileOptions}
	if o.Zones {
		files = append(files, FileZones)
	}
	for _, file := range files {
		fmt.Fprintf(&b, "include \"%s/%s\";\n", o.ConfigDir, file)
	}
	b.WriteString(logging)
	return b.String()
}

// logging goes to the container's log. Lines for each query, update and refused client would drown all others.
const logging = `
logging {
	channel stderr { stderr; severity info; print-time iso8601-utc; print-category yes; print-severity yes; };
	category default { stderr; };
	category queries { null; };
	category update { null; };
	category rate-limit { null; };
	category lame-servers { null; };
};
`

// options is named.conf.options. The root file system cannot be written, so that everything that named writes is in the
// data folder or not at all; keys of signed zones are there too, and stay as long as the zones do.
func (o Options) options() (string, error) {
	access, err := o.access()
	if err != nil {
		return "", err
	}
	forwarders, err := o.forwarders()
	if err != nil {
		return "", err
	}
	policy, err := o.Signing.policies(o)
	if err != nil {
		return "", err
	}
	data := `"` + o.DataDir + `"`
	all := []statement{
		{"directory", data},
		{"key-directory", data},
		{"managed-keys-directory", data},
		{"pid-file", "none"},
		{"session-keyfile", "none"},
		{"allow-new-zones", "yes"},
		// What was transferred whole is written a while later: a secondary that is ended in order would come back without it.
		{"flush-zones-on-shutdown", "yes"},
		{"version", "none"},
		{"hostname", "none"},
		{"server-id", "none"},
		{"querylog", "no"},
		{"minimal-any", "yes"},
		{"check-names primary", "ignore"}, // names are checked where records are written
		// An update would be refused for a mail server without an address, and a new zone not: servers made at different
		// times would differ.
		{"check-integrity", "no"},
	}
	all = append(append(append(append(all, access...), o.resolving()...), forwarders...), o.notifying()...)
	var b strings.Builder
	b.WriteString(header + "options {\n")
	for _, s := range all {
		fmt.Fprintf(&b, "\t%s %s;\n", s.name, s.value)
	}
	b.WriteString("};\n" + policy)
	return b.String(), nil
}

// client is rndc.conf, for people in a shell of the pod: which key is in use stands beside the keys.
func (o Options) client() string {
	return fmt.Sprintf("%sinclude \"%s/%s\";\ninclude \"%s/%s\";\n", header, o.ConfigDir, FileKeys, o.ConfigDir,
		FileClientKey)
}
