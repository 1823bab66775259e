package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf16"
)

// inUTF8 returns a text as UTF-8 without a byte order mark, its lines ended as all else here expects. YAML may be
// UTF-16 (YAML 1.2 §5.2), as PowerShell writes it, and its lines may end with a carriage return alone (§5.4).
func inUTF8(text []byte) ([]byte, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte("\xFF\xFE\x00\x00")), bytes.HasPrefix(text, []byte("\x00\x00\xFE\xFF")):
		return nil, errors.New("it is UTF-32; save it as UTF-8")
	case bytes.HasPrefix(text, []byte("\xFF\xFE")):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte("\xFE\xFF")):
		order = binary.BigEndian
	case bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("it holds octets that are zero, as UTF-16 without a byte order mark does; save it as UTF-8")
	}
	if order != nil {
		if len(text)%2 != 0 {
			return nil, errors.New("it is UTF-16 and ends in the middle of a character")
		}
		units := make([]uint16, 0, len(text)/2)
		for at := 2; at < len(text); at += 2 {
			units = append(units, order.Uint16(text[at:]))
		}
		text = []byte(string(utf16.Decode(units)))
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if bytes.IndexByte(text, '\r') < 0 {
		return text, nil
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\r"), []byte("\n")), nil
}
