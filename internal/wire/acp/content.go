package acp

import (
	"encoding/json"
	"fmt"
)

// Content is a block of a prompt, of a message or of a tool call's output. Which
// fields count is said by Type; of a type that is not known there is Raw.
type Content struct {
	Type        string    `json:"type"`
	Text        string    `json:"text,omitempty"`
	Data        string    `json:"data,omitempty"` // base64, of an image or a sound
	MimeType    string    `json:"mimeType,omitempty"`
	URI         string    `json:"uri,omitempty"`
	Name        string    `json:"name,omitempty"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Size        *int64    `json:"size,omitempty"`
	Resource    *Resource `json:"resource,omitempty"`

	Raw json.RawMessage `json:"-"` // as it came
}

// Resource is the content of a file that is part of a message: text, or a blob
// in base64.
type Resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     *string `json:"blob,omitempty"`
}

// Types of content.
const (
	TypeText         = "text"
	TypeImage        = "image"
	TypeAudio        = "audio"
	TypeResource     = "resource"
	TypeResourceLink = "resource_link"
)

// Text makes a block of text.
func Text(text string) Content { return Content{Type: TypeText, Text: text} }

// Image makes a block of a picture, whose data is in base64.
func Image(data, mimeType string) Content {
	return Content{Type: TypeImage, Data: data, MimeType: mimeType}
}

// Link makes a block that names a file without bringing its content.
func Link(name, uri string) Content { return Content{Type: TypeResourceLink, Name: name, URI: uri} }

// Embedded makes a block of a file's text.
func Embedded(uri, mimeType, text string) Content {
	return Content{Type: TypeResource, Resource: &Resource{URI: uri, MimeType: mimeType, Text: &text}}
}

type plainContent Content // without the methods

// MarshalJSON writes what the type needs, also when it is empty.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.Type != TypeText {
		return json.Marshal(plainContent(c))
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{c.Type, c.Text})
}

// UnmarshalJSON keeps the whole block in Raw.
func (c *Content) UnmarshalJSON(p []byte) error {
	if err := json.Unmarshal(p, (*plainContent)(c)); err != nil {
		return err
	}
	c.Raw = append(json.RawMessage(nil), p...)
	return nil
}

// takes says whether an agent takes a block in a prompt.
func (p PromptCapabilities) takes(c Content) error {
	ok, instead := true, ""
	switch c.Type {
	case TypeText, TypeResourceLink:
	case TypeImage:
		ok, instead = p.Image, "name the picture's file in the text"
	case TypeAudio:
		ok, instead = p.Audio, "say it in words"
	case TypeResource:
		ok, instead = p.EmbeddedContext, "send a link to the file"
	default:
		return fmt.Errorf("a prompt has no content of the type %q: use text, image, audio, resource or resource_link", c.Type)
	}
	if !ok {
		return fmt.Errorf("%w: %s in a prompt; %s", ErrUnsupported, c.Type, instead)
	}
	return nil
}
