package profile

import (
	"encoding/json"
	"reflect"
	"strings"
)

// fresh are the names, in small letters and without signs, of what agents refresh in
// their files of keys: a token, and how long it is good for. An address, a kind, a
// provider or a command in such a file is obeyed, and so stays the user's.
var fresh = map[string]bool{
	"access": true, "refresh": true, "expires": true, "expiry": true, "token": true,
	"accesstoken": true, "refreshtoken": true, "idtoken": true, "expirydate": true, "expiresat": true, "expiresin": true,
	"lastrefresh": true, "updatedat": true,
}

// refreshed reports whether a file of keys became another one by refreshing what is
// refreshed in it, and by nothing else. Both are JSON.
func refreshed(before, after []byte) bool {
	var old, now any
	if json.Unmarshal(before, &old) != nil || json.Unmarshal(after, &now) != nil {
		return false
	}
	return sameBut("", old, now)
}

func sameBut(name string, old, now any) bool {
	switch now := now.(type) {
	case map[string]any:
		was, ok := old.(map[string]any)
		if !ok {
			return false
		}
		for key := range was {
			if _, ok := now[key]; !ok {
				return false
			}
		}
		for key, value := range now {
			if before, ok := was[key]; ok && !sameBut(key, before, value) || !ok && !freshValue(key, value) {
				return false
			}
		}
		return true
	case []any:
		was, ok := old.([]any)
		if !ok || len(was) != len(now) {
			return false
		}
		for i := range now {
			if !sameBut("", was[i], now[i]) {
				return false
			}
		}
		return true
	}
	_, object := old.(map[string]any)
	_, list := old.([]any)
	return reflect.DeepEqual(old, now) || !object && !list && freshValue(name, now)
}

// freshValue reports whether a value is refreshed: a token, or a time.
func freshValue(name string, value any) bool {
	switch value.(type) {
	case string, float64, nil:
		return fresh[strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))]
	}
	return false
}
