;;; sidecar-agent-view.el --- The buffer of a run  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The text of a conversation, drawn in batches from history and events.  Folds
;; and what stands where are text properties.  Point follows only where it stood
;; at the end.

;;; Code:

(require 'sidecar)
(require 'sidecar-agent-draw)

(defconst sidecar-agent--batch 0.033 "Seconds.")

(cl-defstruct (sidecar-agent-view (:constructor sidecar-agent-view-make) (:conc-name sidecar-agent-v-))
  "What shows a run: MODEL in BUFFER, told of by SERVER.
FOOT is the foot's text there, WAITING what came while history was asked for."
  run root server buffer model (foot "") files mode down loading waiting (generation 0) timer prompt editing)

(defvar sidecar-agent-question-map)

(defvar sidecar-agent--views (make-hash-table :test 'equal) "Views by run.")
(defvar-local sidecar-agent--view nil "What a conversation or a prompt shows.")

;;; Drawing

(defun sidecar-agent--block-at (position)
  "The block at POSITION, or nil in the foot."
  (get-text-property (min position (max (point-min) (1- (point-max)))) 'sidecar-agent-block))

(defun sidecar-agent--place (position)
  "Where POSITION is: at the end, or in a block or the foot so many characters in."
  (if (= position (point-max)) 'end
    (let ((block (sidecar-agent--block-at position)))
      (cons block (- position (if block (sidecar-agent--start block) (sidecar-agent--foot-start)))))))

(defun sidecar-agent--foot-start ()
  (- (point-max) (length (sidecar-agent-v-foot sidecar-agent--view))))

(defun sidecar-agent--start (block)
  "Where BLOCK begins: the lengths of those before it are known."
  (let ((at (point-min)))
    (while (setq block (sidecar-agent-b-before-it block))
      (cl-incf at (length (sidecar-agent-b-drawn block))))
    at))

(defun sidecar-agent--position (place)
  "The position of a PLACE now."
  (pcase place
    ('end (point-max))
    (`(nil . ,offset) (min (point-max) (+ (sidecar-agent--foot-start) offset)))
    (`(,block . ,offset) (+ (sidecar-agent--start block) (min offset (max 0 (1- (length (sidecar-agent-b-drawn block)))))))))

(defun sidecar-agent--fold (start end block)
  "Fold BLOCK, which is from START to END, or open it, as it says."
  (let ((head (save-excursion (goto-char start) (when (eq (char-after) ?\n) (forward-char)) (line-end-position))))
    (when (< head (1- end))
      (put-text-property head (1- end) 'invisible (and (eq (sidecar-agent-b-fold block) 'closed) 'sidecar-agent)))))

(defun sidecar-agent--redraw (block start old)
  "Draw BLOCK at START, where the text OLD of it is."
  (pcase-let* ((`(,text ,fold) (sidecar-agent--draw-block (sidecar-agent-v-model sidecar-agent--view) block))
               (differs (compare-strings old nil nil text nil nil))
               (same (if (eq differs t) (length text) (1- (abs differs)))))
    (unless (sidecar-agent-b-by-hand block) (setf (sidecar-agent-b-fold block) fold))
    (delete-region (+ start same) (+ start (length old)))
    (goto-char (+ start same))
    (insert (substring text same))
    (let ((end (+ start (length text))))
      (put-text-property start end 'sidecar-agent-block block)
      (when (eq (sidecar-agent-b-kind block) 'question)
        (put-text-property start end 'keymap (and (not (sidecar-agent-b-closed block)) sidecar-agent-question-map)))
      (setf (sidecar-agent-b-drawn block) text)
      (sidecar-agent--fold start end block))))

(defun sidecar-agent--draw (view)
  "Draw what has changed in VIEW."
  (when (sidecar-agent-v-timer view) (cancel-timer (sidecar-agent-v-timer view)))
  (setf (sidecar-agent-v-timer view) nil)
  (when (buffer-live-p (sidecar-agent-v-buffer view))
    (with-current-buffer (sidecar-agent-v-buffer view)
      (let* ((m (sidecar-agent-v-model view)) (inhibit-read-only t) (windows (get-buffer-window-list nil nil t))
             (at (sidecar-agent--place (point)))
             (places (mapcar (lambda (window) (cons window (sidecar-agent--place (window-point window)))) windows)))
        (dolist (block (sidecar-agent-m-changed m))
          (sidecar-agent--redraw block (sidecar-agent--start block) (sidecar-agent-b-drawn block)))
        (let ((end (sidecar-agent--foot-start)) (foot (sidecar-agent--draw-foot m (sidecar-agent-v-files view) (sidecar-agent-v-down view))))
          (dolist (block (reverse (sidecar-agent-m-new m)))
            (sidecar-agent--redraw block end "")
            (cl-incf end (length (sidecar-agent-b-drawn block))))
          (setf (sidecar-agent-m-changed m) nil (sidecar-agent-m-new m) nil)
          (unless (equal-including-properties foot (sidecar-agent-v-foot view))
            (delete-region end (point-max))
            (goto-char end)
            (insert foot)
            (setf (sidecar-agent-v-foot view) foot)))
        (goto-char (sidecar-agent--position at))
        (pcase-dolist (`(,window . ,place) places) (set-window-point window (sidecar-agent--position place)))
        (set-buffer-modified-p nil)
        (force-mode-line-update)))))

(defun sidecar-agent--schedule (view)
  "Draw VIEW soon."
  (unless (sidecar-agent-v-timer view)
    (setf (sidecar-agent-v-timer view) (run-at-time sidecar-agent--batch nil #'sidecar-agent--draw view))))

(defun sidecar-agent--clear (view)
  "Begin VIEW from nothing."
  (setf (sidecar-agent-v-model view) (sidecar-agent-model-make :run (sidecar-agent-v-run view) :root (sidecar-agent-v-root view))
        (sidecar-agent-v-waiting view) nil (sidecar-agent-v-down view) nil (sidecar-agent-v-foot view) "")
  (cl-incf (sidecar-agent-v-generation view))
  (with-current-buffer (sidecar-agent-v-buffer view)
    (let ((inhibit-read-only t)) (erase-buffer))))

(defun sidecar-agent-toggle ()
  "Fold what is at point, or open it."
  (interactive)
  (let ((block (sidecar-agent--block-at (point))))
    (unless (and block (sidecar-agent-b-fold block)) (user-error "Nothing here can be folded"))
    (setf (sidecar-agent-b-fold block) (if (eq (sidecar-agent-b-fold block) 'closed) 'open 'closed) (sidecar-agent-b-by-hand block) t)
    (let ((inhibit-read-only t) (start (sidecar-agent--start block)))
      (sidecar-agent--fold start (+ start (length (sidecar-agent-b-drawn block))) block))))

;;; What a view is told

(defun sidecar-agent--ask (view command argument done &optional failed)
  "Run COMMAND with ARGUMENT at VIEW's server, and call DONE with its result.
FAILED is called when it is refused, which the user is told."
  (if (not (jsonrpc-running-p (sidecar-agent-v-server view)))
      (progn (message "SideCar: the server is not running; M-x sidecar-start in a file starts it") (when failed (funcall failed)))
    (jsonrpc-async-request
     (sidecar-agent-v-server view) :workspace/executeCommand
     (list :command command :arguments (vector (or argument (make-hash-table :size 1))))
     :timeout 600
     :success-fn (or done #'ignore)
     :error-fn (lambda (e) (message "SideCar: %s" (plist-get e :message)) (when failed (funcall failed))))))

(defun sidecar-agent--load (view)
  "Ask for what has happened since the last event that is known, page after page."
  (setf (sidecar-agent-v-loading view) t)
  (let ((generation (sidecar-agent-v-generation view)))
    (sidecar-agent--ask
     view "sidecar.agent.history" (list :run (sidecar-agent-v-run view) :since (sidecar-agent-m-last (sidecar-agent-v-model view)))
     (lambda (result)
       (when (= generation (sidecar-agent-v-generation view))
         (let* ((m (sidecar-agent-v-model view)) (events (plist-get result :events)) (next (plist-get result :next)))
           (seq-doseq (e events) (sidecar-agent--apply m e))
           (setf (sidecar-agent-m-last m) (max next (sidecar-agent-m-last m)))
           (sidecar-agent--schedule view)
           (if (not (seq-empty-p events)) (sidecar-agent--load view)
             (setf (sidecar-agent-v-loading view) nil)
             (let ((waiting (nreverse (sidecar-agent-v-waiting view))))
               (setf (sidecar-agent-v-waiting view) nil)
               (dolist (e waiting) (sidecar-agent--take view e)))))))
     (lambda () (when (= generation (sidecar-agent-v-generation view)) (setf (sidecar-agent-v-loading view) nil))))))

(defun sidecar-agent--take (view e)
  "Take the event E into VIEW, once; where others are missing before it, ask for them."
  (let* ((m (sidecar-agent-v-model view)) (next (1+ (sidecar-agent-m-last m))) (seq (plist-get e :seq)))
    (cond ((sidecar-agent-v-loading view) (push e (sidecar-agent-v-waiting view)))
          ((< seq next))
          ((> seq next) (push e (sidecar-agent-v-waiting view)) (sidecar-agent--load view))
          (t (sidecar-agent--apply m e) (sidecar-agent--schedule view)))))

(defun sidecar-agent--of-session (edits session)
  "Those of EDITS that are of SESSION."
  (seq-filter (lambda (edit)
                (or (equal (plist-get edit :session) session)
                    (seq-find (lambda (hunk) (seq-contains-p (plist-get hunk :sessions) session)) (plist-get edit :hunks))))
              edits))

(defun sidecar-agent--pending (view list)
  "Have VIEW show what of the LIST of pending edits is of its run."
  (setf (sidecar-agent-v-files view)
        (append (sidecar-agent--of-session (plist-get list :edits) (sidecar-agent-m-session (sidecar-agent-v-model view))) nil))
  (sidecar-agent--schedule view))

(defun sidecar-agent--rebuild (view)
  "Build VIEW anew from its run's history."
  (sidecar-agent--clear view)
  (sidecar-agent--ask
   view "sidecar.agent.runs" '(:all t)
   (lambda (result)
     (let ((run (seq-find (lambda (run) (equal (plist-get run :run) (sidecar-agent-v-run view))) (plist-get result :runs))) (m (sidecar-agent-v-model view)))
       (if (not run) (message "SideCar: this project has no run %s; M-x sidecar-agent-runs lists them" (sidecar-agent-v-run view))
         (setf (sidecar-agent-m-agent m) (plist-get run :agent) (sidecar-agent-m-title m) (plist-get run :title) (sidecar-agent-m-session m) (plist-get run :session))
         (sidecar-agent--ask view "sidecar.session.list" nil
                             (lambda (sessions)
                               (setf (sidecar-agent-v-mode view)
                                     (plist-get (seq-find (lambda (s) (equal (plist-get s :session) (sidecar-agent-m-session (sidecar-agent-v-model view))))
                                                          (plist-get sessions :sessions))
                                                :mode))
                               (sidecar-agent--schedule view)))
         (sidecar-agent--ask view "sidecar.review.list" nil (lambda (list) (sidecar-agent--pending view list)))))))
  (sidecar-agent--load view))

(defun sidecar-agent--event (e)
  "Take the event E of an agent in; tell of a question that is not on screen."
  (let ((view (gethash (plist-get e :run) sidecar-agent--views)))
    (when view (sidecar-agent--take view e))
    (when (and (equal (plist-get e :kind) "question") (not (and view (get-buffer-window (sidecar-agent-v-buffer view) 'visible))))
      (message "SideCar: an agent needs you: %s (M-x sidecar-agent-runs)" (sidecar-agent--line (plist-get e :text) 100)))))

(cl-defmethod eglot-handle-notification ((_server sidecar-server) (_method (eql sidecar/event)) &rest e)
  "Take the event E in, if it is an agent's."
  (when (equal (plist-get e :type) "agent") (sidecar-agent--event e)))

(cl-defmethod eglot-handle-notification ((server sidecar-server) (_method (eql sidecar/pendingEdits)) &rest list)
  "Show what of the LIST of pending edits is of a run of SERVER."
  (maphash (lambda (_ view) (when (eq (sidecar-agent-v-server view) server) (sidecar-agent--pending view list))) sidecar-agent--views))

(defun sidecar-agent--left (server)
  "SERVER has ended."
  (maphash (lambda (_ view)
             (when (eq (sidecar-agent-v-server view) server)
               (setf (sidecar-agent-v-down view) t)
               (sidecar-agent--schedule view)))
           sidecar-agent--views))

(defun sidecar-agent--arrived (server)
  "SERVER is there: conversations of its project go on with it."
  (when (cl-typep server 'sidecar-server)
    (let ((process (jsonrpc--process server)))
      (add-function :after (process-sentinel process)
                    (lambda (process _) (unless (process-live-p process) (sidecar-agent--left server)))))
    (maphash (lambda (_ view)
               (when (and (not (eq (sidecar-agent-v-server view) server)) (equal (sidecar-agent-v-root view) (sidecar-agent--root server)))
                 (setf (sidecar-agent-v-server view) server (buffer-local-value 'sidecar-buffer-server (sidecar-agent-v-buffer view)) server)
                 (sidecar-agent--rebuild view)))
             sidecar-agent--views)))
(add-hook 'eglot-connect-hook #'sidecar-agent--arrived)

(defun sidecar-agent--root (server)
  "The directory of SERVER's project."
  (directory-file-name (file-truename (project-root (eglot--project server)))))

(provide 'sidecar-agent-view)
;;; sidecar-agent-view.el ends here
