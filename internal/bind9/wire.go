package bind9

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The wire format of BIND's command channel (lib/isccc, version 1): a length, the version, and a table of names and
// values. A value is octets, a table or a list. The first entry signs the octets of all that follow it.
const (
	wireVersion = 1
	typeBinary  = 1
	typeTable   = 2
	typeList    = 3

	maxRequest = 32 << 10 // octets after the length: more, and named closes the connection
	maxReply   = 4 << 20
	maxDepth   = 8
)

// signatureLength is of the text of a SHA signature, padded with zeros: that of SHA-512 in base64.
const signatureLength = 88

// algorithmCode is how the signature says which algorithm made it.
func algorithmCode(a Algorithm) byte {
	switch a {
	case SHA1:
		return 161
	case SHA224:
		return 162
	case SHA256:
		return 163
	case SHA384:
		return 164
	case SHA512:
		return 165
	}
	return 0
}

// A table is one of a message. Its values are strings, tables and lists ([]any) of these.
type table map[string]any

// text is the string in a table of a table; "" when it is not there.
func (t table) text(section, name string) string {
	inner, _ := t[section].(table)
	text, _ := inner[name].(string)
	return text
}

// A field is an entry of a table that is written. The order is fixed, so that equal messages are equal octets.
type field struct {
	name  string
	value any // string or []field
}

// encode makes a signed message, without the length before it.
func encode(k Key, fields []field) ([]byte, error) {
	body, err := tableOctets(fields)
	if err != nil {
		return nil, err
	}
	mac, err := k.sign(body)
	if err != nil {
		return nil, err
	}
	auth, err := tableOctets([]field{{"_auth", []field{{"hsha", string(signature(k, mac))}}}})
	if err != nil {
		return nil, err
	}
	message := binary.BigEndian.AppendUint32(nil, wireVersion)
	message = append(append(message, auth...), body...)
	if len(message) > maxRequest {
		return nil, fmt.Errorf("the command has %d octets, more than the %d that named accepts", len(message), maxRequest)
	}
	return message, nil
}

// signature is the value of hsha: the algorithm and the code's base64, filled up.
func signature(k Key, mac []byte) []byte {
	value := make([]byte, 1+signatureLength)
	value[0] = algorithmCode(k.Algorithm)
	base64.StdEncoding.Encode(value[1:], mac)
	return value
}

func tableOctets(fields []field) ([]byte, error) {
	var b []byte
	for _, f := range fields {
		b = append(append(b, byte(len(f.name))), f.name...)
		kind := byte(typeBinary)
		var value []byte
		switch v := f.value.(type) {
		case string:
			value = []byte(v)
		case []field:
			var err error
			if value, err = tableOctets(v); err != nil {
				return nil, err
			}
			kind = typeTable
		default:
			return nil, fmt.Errorf("%s is neither text nor a table", f.name)
		}
		b = binary.BigEndian.AppendUint32(append(b, kind), uint32(len(value)))
		b = append(b, value...)
	}
	return b, nil
}

// errSignature says that a reply was not signed with the key.
var errSignature = errors.New("the reply is not signed with the key")

// decode reads a message without its length and checks the signature before all that it covers.
func decode(k Key, message []byte) (table, error) {
	if len(message) < 4 || binary.BigEndian.Uint32(message) != wireVersion {
		return nil, errors.New("the reply is not of version 1 of the rndc protocol")
	}
	name, value, body, err := cutField(message[4:], maxDepth)
	if err != nil {
		return nil, err
	}
	auth, _ := value.(table)
	given, _ := auth["hsha"].(string)
	mac, err := k.sign(body)
	if err != nil {
		return nil, err
	}
	if name != "_auth" || !hmac.Equal([]byte(given), signature(k, mac)) {
		return nil, errSignature
	}
	return readTable(body, maxDepth)
}

var errTruncated = errors.New("the reply ends inside a value")

// cutField reads one entry of a table and returns what follows it.
func cutField(b []byte, depth int) (string, any, []byte, error) {
	if len(b) < 1 || len(b) < 1+int(b[0]) {
		return "", nil, nil, errTruncated
	}
	name := string(b[1 : 1+int(b[0])])
	value, rest, err := cutValue(b[1+len(name):], depth)
	return name, value, rest, err
}

func cutValue(b []byte, depth int) (any, []byte, error) {
	if len(b) < 5 {
		return nil, nil, errTruncated
	}
	kind, length := b[0], binary.BigEndian.Uint32(b[1:])
	if b = b[5:]; uint64(length) > uint64(len(b)) {
		return nil, nil, errTruncated
	}
	inner, rest := b[:length], b[length:]
	if kind != typeBinary && depth == 0 {
		return nil, nil, fmt.Errorf("the reply has tables inside tables, deeper than %d", maxDepth)
	}
	switch kind {
	case typeBinary:
		return string(inner), rest, nil
	case typeTable:
		t, err := readTable(inner, depth-1)
		return t, rest, err
	case typeList:
		l, err := readList(inner, depth-1)
		return l, rest, err
	}
	return nil, nil, fmt.Errorf("the reply has a value of the unknown type %d", kind)
}

func readTable(b []byte, depth int) (table, error) {
	t := table{}
	for len(b) > 0 {
		name, value, rest, err := cutField(b, depth)
		if err != nil {
			return nil, err
		}
		t[name], b = value, rest
	}
	return t, nil
}

func readList(b []byte, depth int) ([]any, error) {
	var l []any
	for len(b) > 0 {
		value, rest, err := cutValue(b, depth)
		if err != nil {
			return nil, err
		}
		l, b = append(l, value), rest
	}
	return l, nil
}

// writeMessage sends a message with its length before it, in one write.
func writeMessage(w io.Writer, message []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

// readMessage reads as much as the length says, and takes no memory for what does not come.
func readMessage(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxReply {
		return nil, fmt.Errorf("the reply has %s octets, more than %d", strconv.FormatUint(uint64(length), 10), maxReply)
	}
	var b bytes.Buffer
	if n, err := io.CopyN(&b, r, int64(length)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("the reply ends after %d of %d octets: %w", n, length, err)
	}
	return b.Bytes(), nil
}
