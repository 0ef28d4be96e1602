;;; sidecar-output.el --- Output of commands that is held  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The server holds what commands make of what git ignores, and of dependencies,
;; until a person accepts or drops it, all that a session has at once.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'sidecar-agent-text)

(declare-function sidecar-execute "sidecar")
(declare-function sidecar--server "sidecar")
(defvar sidecar-buffer-server)

(defconst sidecar-output--kinds
  '((:protected . "obeyed by programs, secret, or leading out") (:programs . "programs") (:deleted . "deleted"))
  "What a person wants to know of output before it is in the workspace.")

(defconst sidecar-output--named 200 "The server names so many of each kind, and then no more.")

(defun sidecar-output--shown (name)
  "NAME in one line, with every character in sight: what commands made can have any."
  (sidecar-agent--visible (replace-regexp-in-string "[\t\n\r]" (lambda (char) (format "‹U+%04X›" (aref char 0))) name t t)))

(defun sidecar-output--some (names most)
  "NAMES, at most MOST of them."
  (let ((first (mapconcat #'sidecar-output--shown (seq-take names most) ", ")))
    (cond ((<= (length names) most) first)
          ((< (length names) sidecar-output--named) (format "%s and %d more" first (- (length names) most)))
          (t (concat first " and many more")))))

(defun sidecar-output--files (n) (if (= n 1) "1 file" (format "%d files" n)))

(defun sidecar-output--text (held)
  "The lines about HELD, the output of a session."
  (let ((bytes (plist-get held :bytes)) (names (sidecar-output--some (plist-get held :names) 3)))
    (cons (format "%s  %s, %s%s  %s" (sidecar-output--shown (plist-get held :session)) (sidecar-output--files (plist-get held :files))
                  (if (< bytes 1048576) (format "%d KiB" (ceiling bytes 1024.0)) (format "%.1f MiB" (/ bytes 1048576.0)))
                  (if (string-empty-p names) "" (concat " in " names)) (replace-regexp-in-string "[.][0-9]+" "" (plist-get held :at)))
          (delq nil (mapcar (lambda (kind)
                              (let ((names (sidecar-output--some (plist-get held (car kind)) 10)))
                                (unless (string-empty-p names) (format "  %s: %s" (cdr kind) names))))
                            sidecar-output--kinds)))))

(defun sidecar-output--dangers (entries)
  "The dangerous names of ENTRIES, each with what it is and whose."
  (apply #'append
         (mapcar (lambda (held)
                   (apply #'append
                          (mapcar (lambda (kind) (mapcar (lambda (name) (list (plist-get held :session) (car kind) name)) (plist-get held (car kind))))
                                  sidecar-output--kinds)))
                 entries)))

(defun sidecar-output--ask (action session &optional command)
  "Have the server do ACTION for the output of SESSION; nil is all.
COMMAND is the line that builds it again."
  (sidecar-execute "sidecar.review.output"
                   (append (list :action action) (and session (list :session session)) (and command (list :command command)))))

(defun sidecar-output--entries (session)
  (append (plist-get (sidecar-output--ask "list" session) :entries) nil))

(defun sidecar-output--sure (question entries)
  (y-or-n-p (format "%s\n%s\n" question (mapconcat (lambda (held) (string-join (sidecar-output--text held) "\n")) entries "\n"))))

(defun sidecar-output--here ()
  (or (get-text-property (line-beginning-position) 'sidecar-session) (user-error "No output is held in this line")))

(defun sidecar-output--moved (result)
  "Say what of RESULT is in the workspace, and what is not."
  (message "SideCar: moved to the workspace: %s" (sidecar-output--files (or (plist-get result :accepted) 0)))
  (seq-doseq (why (plist-get result :left)) (display-warning 'sidecar (sidecar-output--shown why))))

(defun sidecar-output-accept (session)
  "Move the output of SESSION, the one at point, to the workspace.
Ask about what is dangerous of it, and again when a command adds to that meanwhile."
  (interactive (list (sidecar-output--here)))
  (let ((seen nil) (entries (sidecar-output--entries session)) (sure t))
    (while (and sure (seq-difference (sidecar-output--dangers entries) seen))
      (setq seen (sidecar-output--dangers entries)
            sure (sidecar-output--sure "Accept this output?" entries)
            entries (if sure (sidecar-output--entries session) entries)))
    (when sure
      (sidecar-output--moved (sidecar-output--ask "accept" session))
      (sidecar-output--again))))

(defun sidecar-output-drop (session)
  "Remove the output of SESSION, the one at point, after a question."
  (interactive (list (sidecar-output--here)))
  (when (sidecar-output--sure "Drop this output?" (sidecar-output--entries session))
    (sidecar-output--ask "drop" session)
    (sidecar-output--again)))

(defvar sidecar-output--built nil "The command line that built output last.")

(defun sidecar-output-build (session line)
  "Build the output of SESSION, the one at point, again with the command LINE.
It runs over the accepted text, and its output takes the place of the one that is held."
  (interactive (list (sidecar-output--here) (read-shell-command "Build it again with: " sidecar-output--built)))
  (when (and (not (string-blank-p line))
             (sidecar-output--sure (format "Run `%s` over the accepted text, in the place of this output?" (sidecar-output--shown line))
                                   (sidecar-output--entries session)))
    (setq sidecar-output--built line)
    (let* ((result (sidecar-output--ask "build" session line)) (built (plist-get result :built)))
      (if (eq (plist-get built :ok) t) (sidecar-output--moved result)
        (display-warning 'sidecar (format "`%s` failed with exit code %d; the output is held as before.\n%s" (sidecar-output--shown line)
                                          (plist-get built :exitCode) (sidecar-agent--visible (plist-get built :output))))))
    (sidecar-output--again)))

(defvar sidecar-output-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "a" #'sidecar-output-accept)
    (define-key map "b" #'sidecar-output-build)
    (define-key map "d" #'sidecar-output-drop)
    map)
  "The keys of the list of held output; g asks again.")

(define-derived-mode sidecar-output-mode special-mode "SideCar output"
  "The output of commands that the server holds."
  (setq-local revert-buffer-function (lambda (&rest _) (sidecar-output--draw))))

(defun sidecar-output--again ()
  (when (derived-mode-p 'sidecar-output-mode) (sidecar-output--draw)))

(defun sidecar-output--draw ()
  (let ((inhibit-read-only t) (entries (sidecar-output--entries nil)) (line (line-number-at-pos)))
    (erase-buffer)
    (insert (substitute-command-keys "Held output: \\<sidecar-output-mode-map>\\[sidecar-output-accept] accepts, \\[sidecar-output-build] builds again, \\[sidecar-output-drop] drops\n\n"))
    (unless entries (insert "No output is held.\n"))
    (dolist (held entries)
      (insert (propertize (concat (string-join (sidecar-output--text held) "\n") "\n") 'sidecar-session (plist-get held :session))))
    (goto-char (point-min))
    (forward-line (max 2 (min (1- line) (- (line-number-at-pos (point-max)) 2))))))

;;;###autoload
(defun sidecar-output ()
  "List the output of commands that is held; a accepts it, b builds it again, d drops it."
  (interactive)
  (let ((server (sidecar--server)))
    (with-current-buffer (get-buffer-create "*SideCar output*")
      (sidecar-output-mode)
      (setq sidecar-buffer-server server)
      (sidecar-output--draw)
      (display-buffer (current-buffer)))))

(provide 'sidecar-output)
;;; sidecar-output.el ends here
