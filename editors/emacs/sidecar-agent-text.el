;;; sidecar-agent-text.el --- Texts of agents, made harmless  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What models and programs write is shown with every character in sight: what
;; can't be seen or would change how the rest looks is written as ‹U+202E›.

;;; Code:

(require 'seq)
(require 'subr-x)

(defconst sidecar-agent--hidden
  (concat "[\0-\10\13-\37\177-\u009f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
          "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]")
  "What can't be seen, or moves what can; line feeds and tabs are not in it.")

(defun sidecar-agent--visible (text)
  "TEXT with every character in sight.
Emoji are joined and coloured by characters that can't be seen: those stay behind
another character than those of ASCII."
  (setq text (replace-regexp-in-string "\r\n" "\n" text t t))
  (let ((from 0) (kept -1) parts at)
    (while (setq at (string-match sidecar-agent--hidden text from))
      (push (substring text from at) parts)
      (let ((char (aref text at)))
        (if (and (memq char '(#x200d #xfe0f)) (> at 0) (>= (aref text (1- at)) #x80)
                 (or (= kept (1- at)) (not (string-match-p sidecar-agent--hidden (char-to-string (aref text (1- at)))))))
            (progn (push (char-to-string char) parts) (setq kept at))
          (push (format "‹U+%04X›" char) parts)))
      (setq from (1+ at)))
    (if parts (apply #'concat (nreverse (cons (substring text from) parts))) text)))

(defun sidecar-agent--hides (text)
  "Whether TEXT has characters that can't be seen."
  (not (equal (sidecar-agent--visible text) (replace-regexp-in-string "\r\n" "\n" text t t))))

(defun sidecar-agent--plain (text)
  "TEXT of a program without its colours."
  (replace-regexp-in-string "\e\\[[0-9;:]*m" "" text t t))

(defun sidecar-agent--line (text limit)
  "TEXT in one line of at most LIMIT characters."
  (let ((line (string-trim (replace-regexp-in-string "[ \t]*\n[ \t\n]*" " " (sidecar-agent--visible (or text "")) t t))))
    (if (> (length line) limit) (concat (substring line 0 (1- limit)) "…") line)))

(defconst sidecar-agent--longest 2000 "Characters of a line.")

(defun sidecar-agent--append (reversed text)
  "Add TEXT to the lines REVERSED, the last one first, and return them.
The last one goes on; long ones are broken."
  (let ((parts (split-string (sidecar-agent--visible text) "\n")))
    (when reversed (setcar parts (concat (pop reversed) (car parts))))
    (dolist (part parts reversed)
      (while (> (length part) sidecar-agent--longest)
        (push (substring part 0 sidecar-agent--longest) reversed)
        (setq part (substring part sidecar-agent--longest)))
      (push part reversed))))

(defun sidecar-agent--lines (text)
  "The lines of TEXT, the last one first."
  (sidecar-agent--append nil text))

(defun sidecar-agent--trimmed (reversed)
  "The lines REVERSED in their order, without empty ones at their end."
  (reverse (seq-drop-while (lambda (line) (not (string-match-p "[^ \t]" line))) reversed)))

(defun sidecar-agent--difference (old new)
  "The lines of OLD that are removed, and those of NEW that are added.
They go from the first line that differs to the last one."
  (let* ((split (lambda (text)
                  (let ((lines (sidecar-agent--lines (or text ""))))
                    (reverse (if (equal (car lines) "") (cdr lines) lines)))))
         (a (funcall split old)) (b (funcall split new)))
    (while (and a b (equal (car a) (car b))) (pop a) (pop b))
    (setq a (reverse a) b (reverse b))
    (while (and a b (equal (car a) (car b))) (pop a) (pop b))
    (list (reverse a) (reverse b))))

(provide 'sidecar-agent-text)
;;; sidecar-agent-text.el ends here
