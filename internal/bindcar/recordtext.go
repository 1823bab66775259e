package bindcar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/rr"
)

// A recordText is a record as callers write it.
type recordText struct {
	name, typ, value string
	priority         *uint16
}

// readRecord parses a record of a zone. loose is explained at zoneName.owner.
func readRecord(zone zoneName, r recordText, loose bool) (rr.Key, string, error) {
	owner, err := zone.owner(r.name, loose)
	if err != nil {
		return rr.Key{}, "", err
	}
	typ, err := rr.ParseType(r.typ)
	if err != nil {
		return rr.Key{}, "", err
	}
	if why := typ.Refused(); why != "" {
		return rr.Key{}, "", fmt.Errorf("a record of the type %s cannot be written: %s", typ, why)
	}
	value, err := r.data(zone, typ)
	if err == nil {
		value, err = rr.ParseData(typ, value)
	}
	if err != nil {
		return rr.Key{}, "", err
	}
	return rr.Key{Name: owner, Type: typ}, value, nil
}

// data is the value with its priority and with the last name in it absolute.
func (r recordText) data(zone zoneName, typ rr.Type) (string, error) {
	value := r.value
	switch typ {
	case rr.TypeCNAME, rr.TypeDNAME, rr.TypeNS, rr.TypePTR, rr.TypeMX, rr.TypeSRV, rr.TypeAFSDB, rr.TypeKX:
		at := strings.LastIndexAny(value, " \t") + 1
		if last := value[at:]; last != "" && !strings.HasSuffix(last, ".") {
			name, err := zone.relative(last)
			if err != nil {
				return "", fmt.Errorf("%s data %s: %w", typ, clip(value), err)
			}
			value = value[:at] + name.String()
		}
	}
	if r.priority == nil {
		return value, nil
	}
	if typ != rr.TypeMX && typ != rr.TypeSRV {
		return "", errors.New("only MX and SRV have a priority")
	}
	return strconv.Itoa(int(*r.priority)) + " " + value, nil
}
