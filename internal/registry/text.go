package registry

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/zonefold/zonefold/internal/rr"
)

const (
	heritage  = "external-dns"
	ownerWord = heritage + "/owner"

	keySize, nonceSize, tagSize = 32, 12, 16 // octets: AES-256 in GCM

	// maxText is how long the text of a note may become when it is unpacked: a TXT record holds less than that.
	maxText = 1 << 16
)

// ParseKey reads a key in either form that external-dns takes: 32 characters, or 32 octets in base64.
func ParseKey(text string) ([]byte, error) {
	if len(text) == keySize {
		return []byte(text), nil
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != keySize {
		return nil, errors.New("it is neither 32 characters nor 32 octets in base64")
	}
	return key, nil
}

// A reading is what a text turned out to be.
type reading uint8

const (
	plain  reading = iota // no note
	note                  // with an owner
	sealed                // perhaps a note, encrypted with a key that is not ours
)

// read finds the owner in the text of a note.
func (f *Format) read(text string) (owner string, is reading) {
	text = strings.Trim(text, `"`)
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(data) > nonceSize+tagSize {
		is = sealed
		if open, ok := f.unseal(data); ok {
			text, is = open, plain
		}
	}
	if owner, ok := parse(text); ok {
		return owner, note
	}
	return "", is
}

// parse reads labels: heritage=external-dns,external-dns/owner=NAME,external-dns/resource=KIND/NAMESPACE/NAME.
func parse(text string) (owner string, ok bool) {
	for token := range strings.SplitSeq(text, ",") {
		key, value, has := strings.Cut(token, "=")
		switch {
		case !has:
		case key == "heritage" && value != heritage:
			return "", false
		case key == "heritage":
			ok = true
		case key == ownerWord:
			owner = value
		}
	}
	return owner, ok
}

// unseal decrypts and unpacks.
func (f *Format) unseal(data []byte) (string, bool) {
	gcm := f.cipher()
	if gcm == nil {
		return "", false
	}
	packed, err := gcm.Open(nil, data[:nonceSize], data[nonceSize:], nil)
	if err != nil {
		return "", false
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(io.LimitReader(z, maxText))
	return string(text), err == nil
}

func (f *Format) cipher() cipher.AEAD {
	if len(f.Key) != keySize {
		return nil
	}
	block, err := aes.NewCipher(f.Key)
	if err != nil {
		return nil
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil
	}
	return gcm
}

// write returns the text of a note about a set. Encrypted, the same note has the same text every time: its nonce is
// made of the key and of all that is said, so that no nonce is ever used for two texts.
func (f *Format) write(owner string, k rr.Key) string {
	text := "heritage=" + heritage + "," + ownerWord + "=" + owner
	gcm := f.cipher()
	if gcm == nil {
		return text
	}
	mac := hmac.New(sha256.New, f.Key)
	mac.Write([]byte(k.String() + " " + text))
	nonce := mac.Sum(nil)[:nonceSize]
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = z.Write([]byte(text)) // into memory, which takes it
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(gcm.Seal(nonce, nonce, packed.Bytes(), nil))
}
