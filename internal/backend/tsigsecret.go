package backend

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// minTSIGSecret is how many octets the secret of a TSIG key has at least: whoever sees one signed message can try all
// shorter ones (RFC 2104 §3).
const minTSIGSecret = 16

// TSIGSecret reads the secret of a TSIG key. No error of it quotes any of it.
func TSIGSecret(text string) ([]byte, error) {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	switch {
	case err != nil || len(secret) == 0:
		return nil, errors.New("the secret is not base64, as in the server's configuration") // the cause would quote it
	case len(secret) < minTSIGSecret:
		return nil, fmt.Errorf("the secret has %d octets, fewer than %d, and could be guessed; make one with "+
			"`tsig-keygen`, or with `openssl rand -base64 32`, and give it to the server too",
			len(secret), minTSIGSecret)
	}
	return secret, nil
}
