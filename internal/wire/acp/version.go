package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// version is that of the protocol which is spoken here.
const version = 1

// agreed says what is wrong with the version in an agent's answer to initialize.
func agreed(raw json.RawMessage) error {
	var reply struct {
		ProtocolVersion *int `json:"protocolVersion"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil || reply.ProtocolVersion == nil {
		return errors.New("the agent's answer to initialize has no version number: check that the program speaks the Agent Client Protocol on its standard output")
	}
	release := "a newer"
	switch v := *reply.ProtocolVersion; {
	case v == version:
		return nil
	case v > version:
		release = "an older"
	}
	return fmt.Errorf("%w: it was asked for version %d and answers with %d: use %s release of the agent", ErrVersion, version, *reply.ProtocolVersion, release)
}

// maxVersions bounds how many versions of an agent's are named.
const maxVersions = 10

// refused makes of an agent's refusal of the version an error that says which it speaks.
// Other errors stay as they are.
func refused(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeVersion {
		return err
	}
	var data struct{ Supported json.RawMessage }
	_ = json.Unmarshal(e.Data, &data)
	var all []json.RawMessage
	_ = json.Unmarshal(data.Supported, &all) // none of what is no list
	var speaks []string
	for _, raw := range all {
		var v uint16
		if !isNull(raw) && json.Unmarshal(raw, &v) == nil && !slices.Contains(speaks, fmt.Sprint(v)) && len(speaks) < maxVersions {
			speaks = append(speaks, fmt.Sprint(v))
		}
	}
	if len(speaks) == 0 {
		return fmt.Errorf("%w: it was asked for version %d and refuses that, and does not say which it speaks", ErrVersion, version)
	}
	return fmt.Errorf("%w: it was asked for version %d and speaks %s", ErrVersion, version, strings.Join(speaks, ", "))
}
