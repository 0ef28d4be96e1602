;;; What both runs of the Emacs test share.  -*- lexical-binding: t -*-
(setq load-prefer-newer t)
(when (locate-library "package") (require 'package) (package-initialize))
(add-to-list 'load-path (getenv "SIDECAR_EMACS"))
(require 'sidecar)
(define-derived-mode go-mode prog-mode "Go") ; Emacs 28 has none of its own
(add-to-list 'auto-mode-alist '("\\.go\\'" . go-mode))

(defun t/say (format &rest args) (princ (concat (apply #'format format args) "\n")))
(defun t/ok (cond text)
  (unless cond (t/say "not ok - %s" text) (kill-emacs 1))
  (t/say "ok - %s" text))
(defun t/await (text cond)
  "Handle events until the function COND returns true."
  (let ((end (+ (float-time) 30)))
    (while (and (not (funcall cond)) (< (float-time) end)) (accept-process-output nil 0.02)))
  (t/ok (funcall cond) text))
(defun t/disk () (with-temp-buffer (insert-file-contents "main.go") (buffer-string)))
(defun t/line (n) (save-excursion (goto-char (point-min)) (forward-line (1- n)) (buffer-substring (line-beginning-position) (line-end-position))))
(defun t/goto (n) (goto-char (point-min)) (forward-line (1- n)))
(defun t/hunks () (let ((edits (plist-get (sidecar-execute "sidecar.review.list") :edits))) (if (seq-empty-p edits) [] (plist-get (elt edits 0) :hunks))))
;; Flymake first asks Eglot from an idle timer, which batch mode has none of: what the server published
;; before would never be shown.
(defun t/notes ()
  (unless (memq 'eglot-flymake-backend (flymake-running-backends)) (flymake-start))
  (seq-filter (lambda (d) (eq (flymake-diagnostic-type d) 'eglot-note)) (flymake-diagnostics)))
(defun t/start (file)
  (setq sidecar-command (list (getenv "SIDECAR_LS") "serve" "--log-file" (getenv "SIDECAR_LOG")))
  (find-file file)
  (sidecar-start)
  (t/await "the server runs" (lambda () (eglot-current-server))))
(defun t/quit ()
  (eglot-shutdown (eglot-current-server) nil 20)
  (t/say "done"))
